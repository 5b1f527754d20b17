// Charts that have a logarithmic axis need places for what no logarithm has: zero, infinity and NaN.

// A vertical scale from `bottom` up to `top` for the values: zeros a step below the smallest,
// infinities and NaN a step above the largest.
function errorScale(values, bottom, top, always) {
  const finite = values.concat(always).filter((v) => Number.isFinite(v) && v > 0);
  const zeros = values.some((v) => v === 0);
  const wild = values.some((v) => !Number.isFinite(v));
  let low = finite.length ? Math.min(...finite) : 1e-8;
  let high = finite.length ? Math.max(...finite) : 1;
  low = 10 ** Math.floor(Math.log10(low) - 1e-9);
  high = 10 ** Math.ceil(Math.log10(high) + 1e-9);
  const step = 18;
  const log = d3.scaleLog().domain([low, high])
      .range([bottom - (zeros ? step : 0), top + (wild ? step : 0)]);
  const scale = (v) => v === 0 ? bottom : Number.isFinite(v) ? log(v) : top;
  const decades = Math.round(Math.log10(high / low));
  const every = Math.max(1, Math.ceil(decades / 6));
  const ticks = [];
  for (let i = 0; i <= decades; i += every) ticks.push(low * 10 ** i);
  scale.ticks = ticks.map((v) => ({at: log(v), text: powerText(v)}));
  if (zeros) scale.ticks.push({at: bottom, text: '0'});
  if (wild) scale.ticks.push({at: top, text: '\u221e'});
  return scale;
}

function powerText(value) {
  const power = Math.round(Math.log10(value));
  if (power >= -2 && power <= 3) return show(value);
  const digits = '\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079';
  const text = String(Math.abs(power)).replace(/\d/g, (digit) => digits[Number(digit)]);
  return '10' + (power < 0 ? '\u207b' : '') + text;
}

// Horizontal lines with their labels.
function drawTicks(svg, ticks, left, right) {
  const tick = svg.append('g').attr('aria-hidden', 'true').selectAll('g').data(ticks).enter()
      .append('g').attr('class', 'tick').attr('transform', (t) => `translate(0,${t.at})`);
  tick.append('line').attr('x1', left).attr('x2', right);
  tick.append('text').attr('x', left - 6).attr('dy', '0.32em').attr('text-anchor', 'end')
      .text((t) => t.text);
}

function newSvg(width, height, label) {
  return d3.create('svg').attr('viewBox', `0 0 ${width} ${height}`).attr('role', 'img')
      .attr('aria-label', label);
}
