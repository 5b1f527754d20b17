// Four pictures of one output. Each has a sentence that says what it shows.

const digits64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

function figureOf(title, picture, caption) {
  return make('figure', {}, make('h3', {}, title), picture, make('figcaption', {}, caption));
}

function sum(numbers) {
  return numbers.reduce((total, n) => total + n, 0);
}

// How values are spread on both sides: the first filled, the second as a line.
function valuesChart(charts, first, second) {
  const width = 360, height = 120, left = 8, right = width - 8, bottom = height - 18;
  const most = Math.max(1, ...charts.first, ...charts.second);
  const x = d3.scaleLinear().domain([0, charts.first.length]).range([left, right]);
  // Roots: a bin of a few elements beside one of millions can still be seen.
  const y = d3.scalePow().exponent(0.35).domain([0, most]).range([bottom, 6]);
  const steps = (counts) => counts.concat(counts[counts.length - 1]);
  const area = d3.area().curve(d3.curveStepAfter).x((d, i) => x(i)).y0(bottom).y1((d) => y(d));
  const line = d3.line().curve(d3.curveStepAfter).x((d, i) => x(i)).y((d) => y(d));
  const low = show(charts.low), high = show(charts.high);
  const svg = newSvg(width, height, `Values of ${first} and ${second} from ${low} to ${high}`);
  svg.append('path').attr('class', 'side-a').attr('d', area(steps(charts.first)));
  svg.append('path').attr('class', 'side-b').attr('d', line(steps(charts.second)));
  svg.append('text').attr('x', left).attr('y', height - 4).text(low);
  svg.append('text').attr('x', right).attr('y', height - 4).attr('text-anchor', 'end').text(high);
  const caption = make('span', {}, make('span', {class: 'key-a'}, first), ' and ',
      make('span', {class: 'key-b'}, second), ', elements by value');
  return figureOf('Values', svg.node(), caption);
}

function equalText(equal, all) {
  if (all === 1) return equal ? 'The only element does not differ' : 'The only element differs';
  if (equal === all) return `None of ${count(all)} elements differs`;
  if (!equal) return `All ${count(all)} elements differ`;
  return `${count(equal)} of ${count(all)} elements ${equal === 1 ? 'does' : 'do'} not differ`;
}

// `largest`: of the finite differences.
function differencesChart(differences, largest) {
  const counts = differences.counts || [];
  const from = differences.first_decade || 0;
  const bars = counts.map((n, i) => ({n, label: powerText(10 ** (from + i)), wild: false}));
  bars.unshift({n: differences.equal || 0, label: '0', wild: false});
  if (differences.not_finite) bars.push({n: differences.not_finite, label: 'NaN, \u221e', wild: true});
  const all = sum(bars.map((bar) => bar.n));
  const width = 360, height = 120, bottom = height - 18;
  const x = d3.scaleBand().domain(bars.map((bar, i) => i)).range([8, width - 8]).padding(0.12);
  const y = d3.scalePow().exponent(0.35).domain([0, Math.max(1, ...bars.map((b) => b.n))])
      .range([bottom, 6]);
  const wild = differences.not_finite || 0;
  const caption = equalText(differences.equal || 0, all) +
      (counts.length ? `; the largest ${wild ? 'finite ' : ''}difference is ${show(largest)}` : '') +
      (wild ? `; ${count(wild)} ${wild === 1 ? 'is' : 'are'} NaN or infinite` : '') + '.';
  const svg = newSvg(width, height, 'Absolute differences by powers of ten: ' + caption);
  const bar = svg.selectAll('g').data(bars).enter().append('g');
  bar.append('rect').attr('class', 'count').classed('wild', (d) => d.wild)
      .attr('x', (d, i) => x(i)).attr('width', x.bandwidth()).attr('y', (d) => y(d.n))
      .attr('height', (d) => Math.max(d.n ? 1.5 : 0, bottom - y(d.n)))
      .each(function(d) {
        this.addEventListener('pointermove', (event) => showTip(event, `${d.label}: ${count(d.n)}`));
        this.addEventListener('pointerleave', hideTip);
      });
  const every = Math.ceil(bars.length / 8);
  bar.filter((d, i) => i % every === 0 || d.wild).append('text').attr('text-anchor', 'middle')
      .attr('x', (d) => x(bars.indexOf(d)) + x.bandwidth() / 2).attr('y', height - 4)
      .text((d) => d.label);
  return figureOf('Differences by size', svg.node(), caption);
}

function axesText(heat, shape) {
  if (heat.row_axes === -1) return 'the elements in order, line by line';
  const axes = (from, to) => to - from === 1 ? `axis ${from}` : `axes ${from} to ${to - 1}`;
  return `down: ${axes(0, heat.row_axes)} (${count(heat.matrix_rows)}), across: ` +
      `${axes(heat.row_axes, shape.length)} (${count(heat.matrix_columns)})`;
}

function heatText(cell, heat) {
  if (cell === '.') return 'no element';
  if (cell === '_') return 'NaN';
  if (cell === '-') return 'infinite';
  if (cell === 'A') return 'no difference';
  const share = (digits64.indexOf(cell) - 1) / 60;
  const least = number(heat.least), most = number(heat.most);
  return 'up to about ' + show(least * (most / least) ** share, 2);
}

// What its colours stand for.
function heatKey(heat) {
  const parts = [];
  const least = show(heat.least), most = show(heat.most);
  if (number(heat.most) > 0) parts.push(least === most ? `${most} where there is one` : `${least} to ${most} from pale to strong`);
  if (/[_-]/.test(heat.cells || '')) parts.push('NaN or infinite in the colour of text');
  return parts.join(', ') || 'none';
}

function heatChart(heat, shape) {
  const rows = heat.rows || 0, columns = heat.columns || 0;
  const width = 360, size = width / Math.max(columns, 12);
  const tall = Math.max(6, Math.min(size, 200 / Math.max(1, rows)));
  const caption = `Largest absolute difference in each cell: ${heatKey(heat)}; ${axesText(heat, shape)}.`;
  const svg = newSvg(width, rows * tall, 'Where the differences are. ' + caption);
  const mix = d3.interpolateRgb(color('calm-wash'), color('accent'));
  const fill = (cell) => {
    if (cell === '.') return 'none';
    if (cell === '_' || cell === '-') return color('ink');
    return cell === 'A' ? color('wash') : mix((digits64.indexOf(cell) - 1) / 60);
  };
  const cells = Array.from(heat.cells || '').slice(0, rows * columns);
  svg.selectAll('rect').data(cells).enter().append('rect')
      .attr('x', (d, i) => (i % columns) * size).attr('y', (d, i) => Math.floor(i / columns) * tall)
      .attr('width', size + 0.3).attr('height', tall + 0.3).attr('fill', fill)
      .each(function(d) {
        this.addEventListener('pointermove', (event) => showTip(event, heatText(d, heat)));
        this.addEventListener('pointerleave', hideTip);
      });
  return figureOf('Where they are', svg.node(), caption);
}

// `complete`: the worst elements can be drawn.
function scatterChart(charts, first, second, complete) {
  const points = [];
  const part = (text) => digits64.indexOf(text[0]) * 64 + digits64.indexOf(text[1]);
  for (let i = 0; i + 3 < (charts.points || '').length; i += 4) {
    points.push([part(charts.points.slice(i, i + 2)), part(charts.points.slice(i + 2, i + 4))]);
  }
  const size = 220, edge = 14;
  const scale = d3.scaleLinear().domain([0, 4095]).range([0, size]);
  const svg = newSvg(360, size + edge, `${second} against ${first} for ${some(points.length, 'element')}`);
  svg.append('line').attr('class', 'diagonal').attr('x1', 60).attr('y1', size).attr('x2', 60 + size)
      .attr('y2', 0);
  svg.selectAll('circle').data(points).enter().append('circle').attr('class', 'point')
      .attr('cx', (d) => 60 + scale(d[0])).attr('cy', (d) => size - scale(d[1])).attr('r', 2.5);
  svg.append('text').attr('x', 60).attr('y', size + edge).text(show(charts.low));
  svg.append('text').attr('x', 60 + size).attr('y', size + edge).attr('text-anchor', 'end')
      .text(show(charts.high));
  return figureOf('One against the other', svg.node(),
      `Across: ${first}, up: ${second}. ${some(points.length, complete ? 'element' : 'finite element')}` +
      (points.length > 1 && complete ? ', the worst among them' : '') + '; what agrees lies on the line.');
}

function outputCharts(output, pair) {
  const charts = figuresOf(output).charts;
  if (!charts) return [];
  if (charts.missing) return [make('p', {class: 'hint'}, 'No charts: ' + charts.missing + '.')];
  if (!hasCharts) return [];
  const pictures = [];
  const spread = charts.first && charts.first.length > 0;
  if (spread) pictures.push(valuesChart(charts, pair.first, pair.second));
  const differences = charts.differences || {}, heat = charts.heat || {};
  pictures.push(differencesChart(differences, heat.most), heatChart(heat, figuresOf(output).shape || []));
  if (spread && charts.points) {
    pictures.push(scatterChart(charts, pair.first, pair.second, !differences.not_finite));
  }
  return pictures;
}
