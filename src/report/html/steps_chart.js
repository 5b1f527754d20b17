// Error against step of the chosen output, where iterations are steps of sequences.

const stepMetrics = {
  over: {
    label: 'times over tolerance',
    of: (point) => point.times_over_tolerance,
    threshold: 1,
  },
  rms: {
    label: 'RMS error',
    of: (point) => point.rms_error,
  },
};

function stepsSection() {
  if (!hasCharts || !pairs.some((pair) => (pair.outputs || []).some((o) => (o.time || {}).curve))) return null;
  const choice = make('select', {id: 'step-metric', onchange: draw},
      ...Object.entries(stepMetrics).map(([key, m]) => make('option', {value: key}, m.label)));
  const figure = make('figure', {});
  const sentence = make('p', {class: 'hint'});
  const section = make('section', {id: 'steps', 'aria-labelledby': 'steps-title'},
      make('div', {class: 'bar'}, make('h2', {id: 'steps-title'}, 'Error, step by step'),
          make('label', {for: 'step-metric'}, 'metric'), choice), figure, sentence);
  state.listeners.push(draw);

  function draw() {
    const output = outputsOf(state.pair)[state.output];
    const time = (output || {}).time || {};
    const metric = stepMetrics[choice.value];
    const points = pointsOf(time, metric);
    const own = pointsOf(time.crossed || {}, metric);
    const words = texts.pairs[state.pair].steps;
    sentence.textContent = words ? capital(words) + '.' : '';
    if (!points.length) {
      figure.replaceChildren(make('p', {class: 'hint'}, 'This was not measured.'));
      return;
    }
    const summary = stepsSummary(output, metric);
    figure.replaceChildren(drawSteps(time, {points, own}, metric, summary), make('figcaption', {}, summary));
  }

  draw();
  return section;
}

// {step, value}, in the order of steps.
function pointsOf(time, metric) {
  return (time.curve || []).filter((point) => metric.of(point) !== undefined)
      .map((point) => ({step: point.step, value: number(metric.of(point))}));
}

function sequencesText() {
  const sequences = ((record.steps || {}).lengths || []).length;
  return sequences > 1 ? `the largest of ${count(sequences)} sequences` : 'one sequence';
}

function stepsSummary(output, metric) {
  const time = output.time;
  const pair = pairs[state.pair];
  const parts = [`${capital(metric.label)} of ${output.name} at each step, ${sequencesText()}`];
  if (time.crossed) parts.push(`pale: against ${pair.first} with the state of ${pair.second}, each step\u2019s own error`);
  if (time.own) parts.push('each step\u2019s own error, from the reference\u2019s state');
  if (time.steps_per_point > 1) parts.push(`a point is the worst of ${count(time.steps_per_point)} steps`);
  if (metric.threshold) parts.push('dashed: the tolerance');
  const bad = time.first_bad_step === undefined ? 'no step is out of tolerance'
      : `the first step out of tolerance is ${badText(time)}`;
  return parts.join('; ') + `; ${bad}.`;
}

function badText(time) {
  const many = ((record.steps || {}).lengths || []).length > 1;
  const before = time.compared_before_bad;
  return `step ${count(time.first_bad_step)}` + (many ? ` of sequence ${count(time.first_bad_sequence || 0)}` : '') +
      (before === undefined ? '' : `, or one before: none was compared between it and step ${count(before)}`);
}

// Runs of points without a gap: over one, a line would show what was not measured.
function unbroken(points, width) {
  const runs = [];
  for (const point of points) {
    const last = runs.length && runs[runs.length - 1];
    if (last && point.step - last[last.length - 1].step <= width) last.push(point);
    else runs.push([point]);
  }
  return runs;
}

// `points` are of total errors, or of all there are; `own` those with the candidate's state.
function drawSteps(time, {points, own}, metric, summary) {
  const width = 760, height = 230, left = 48, right = width - 8, top = 20, bottom = height - 34;
  const y = errorScale(points.concat(own).map((p) => p.value), bottom, top, metric.threshold ? [metric.threshold] : []);
  const last = Math.max(1, points[points.length - 1].step, time.first_bad_step || 0);
  const x = d3.scaleLinear().domain([0, last]).range([left + 8, right]);
  const svg = newSvg(width, height, summary);
  drawTicks(svg, y.ticks, left, right);
  if (metric.threshold) {
    svg.append('line').attr('class', 'rule').attr('x1', left).attr('x2', right)
        .attr('y1', y(metric.threshold)).attr('y2', y(metric.threshold));
  }
  drawStepAxis(svg, x, bottom, height);
  if (own.length) drawCurve(svg, own, time.crossed.steps_per_point, x, y).attr('class', 'crossed');
  drawCurve(svg, points, time.steps_per_point, x, y);
  if (time.first_bad_step !== undefined) markBad(svg, x, time, top, bottom);
  followPointer(svg, x, {points, own}, metric);
  return svg.node();
}

function drawCurve(svg, points, stepsPerPoint, x, y) {
  const at = (p) => x(p.step), high = (p) => y(p.value);
  const runs = unbroken(points, stepsPerPoint || 1);
  const curve = svg.append('g');
  curve.selectAll('path').data(runs.filter((run) => run.length > 1)).enter().append('path')
      .attr('class', 'series').attr('d', d3.line().x(at).y(high));
  const dots = points.length <= 60 ? points : runs.filter((run) => run.length === 1).flat();
  curve.selectAll('circle').data(dots).enter().append('circle').attr('class', 'dot')
      .attr('cx', at).attr('cy', high).attr('r', 3);
  return curve;
}

function drawStepAxis(svg, x, bottom, height) {
  const axis = svg.append('g').attr('aria-hidden', 'true');
  const [first, end] = x.range();
  for (const step of x.ticks(8).filter(Number.isInteger)) {
    axis.append('text').attr('x', x(step)).attr('y', bottom + 16).attr('text-anchor', 'middle').text(count(step));
  }
  axis.append('text').attr('x', (first + end) / 2).attr('y', height - 4).attr('text-anchor', 'middle').text('step');
}

function markBad(svg, x, time, top, bottom) {
  const at = x(time.first_bad_step);
  const left = at > (x.range()[0] + x.range()[1]) / 2;
  svg.append('line').attr('class', 'first-bad').attr('x1', at).attr('x2', at).attr('y1', top - 8).attr('y2', bottom);
  svg.append('text').attr('class', 'first-bad').attr('x', at + (left ? -5 : 5)).attr('y', top - 8)
      .attr('dy', '0.3em').attr('text-anchor', left ? 'end' : 'start')
      .text(`first out of tolerance: ${badText(time)}`);
}

// The tip is of the nearest step, wherever in the picture the pointer is.
function followPointer(svg, x, {points, own}, metric) {
  const node = svg.node();
  const behind = d3.bisector((p) => p.step).left;
  node.addEventListener('pointermove', (event) => {
    const box = node.getBoundingClientRect();
    const step = x.invert((event.clientX - box.left) / box.width * node.viewBox.baseVal.width);
    const i = Math.min(points.length - 1, behind(points, step));
    const point = i && step - points[i - 1].step < points[i].step - step ? points[i - 1] : points[i];
    const crossed = own.find((p) => p.step === point.step);
    showTip(event, `step ${count(point.step)}: ${show(point.value)} ${metric.label}` +
        (crossed ? `, own error ${show(crossed.value)}` : ''));
  });
  node.addEventListener('pointerleave', hideTip);
}
