// How fast the runners are, with the noise, and whether they compute the same.

function profileSection() {
  const profile = record.profile;
  if (!profile || !profile.points) return null;
  const section = make('section', {id: 'profile', 'aria-labelledby': 'profile-title'},
      make('h2', {id: 'profile-title'}, 'Latency, one runner at a time'));
  if (hasCharts && profile.points.some((p) => !p.failure)) section.append(latencyChart(profile));
  section.append(pointsTable(profile), make('p', {class: 'hint'},
      'Noise is the width in which the median lies with 95 % confidence; accuracy is against the ' +
      'first runner on the same inputs.'));
  for (const point of profile.points) {
    const layers = layersTable(point);
    if (layers) section.append(layers);
  }
  return section;
}

function pointsTable(profile) {
  const columns = [{title: 'shapes', words: true}, {title: 'runner'},
    ...['median', 'mean', 'std dev', 'min', 'p90', 'p95', 'p99', 'max', 'noise', 'per second',
      'first', 'memory'].map((title) => ({title, number: true})), {title: 'accuracy', words: true}];
  const rows = profile.points.map((p) => {
    if (p.failure) return [p.shapes || '', p.runner, ...Array(12).fill('\u2013'), p.failure];
    const l = p.latency_seconds;
    const noise = '\u00b1 ' + show(number(l.median_noise) * 100, 2) + ' %';
    return [p.shapes || '', p.runner, seconds(l.median), seconds(l.mean), seconds(l.std_dev),
      seconds(l.min), seconds(l.p90), seconds(l.p95), seconds(l.p99), seconds(l.max), noise,
      show(p.per_second || 0), seconds(p.first_seconds), p.peak_memory_bytes ? bytes(p.peak_memory_bytes) : '\u2013', accuracyOf(p)];
  });
  return plainTable(columns, rows, 'Latency of each runner with each set of shapes');
}

function accuracyOf(point) {
  const accuracy = point.accuracy || {};
  if (!accuracy.compared) return accuracy.why || 'not known';
  const types = accuracy.types_differ || [];
  const matches = types.length ? `matches; types differ: ${types.join(', ')}` : 'matches';
  return accuracy.passed ? matches : make('span', {class: 'failed'},
      `${accuracy.failed ? 'differs' : 'failed'}: ${accuracy.why || ''}`);
}

function latencyChart(profile) {
  const points = profile.points.filter((p) => !p.failure && number(p.latency_seconds.median) > 0);
  const shapes = [...new Set(profile.points.map((p) => p.shapes || ''))];
  const runners = (profile.runners || []).map((r) => r.name || '');
  const width = 760, height = 240, left = 64, right = width - 130, top = 12, bottom = height - 40;
  const x = d3.scalePoint().domain(shapes).range([left + 24, right - 24]);
  const all = points.flatMap((p) => [number(p.latency_seconds.min), number(p.latency_seconds.p99)]).filter((v) => v > 0);
  if (!all.length) return make('p', {class: 'hint'}, 'The runners reported no times of their inferences.');
  const y = d3.scaleLog().domain([Math.min(...all) / 1.2, Math.max(...all) * 1.2]).range([bottom, top]);
  const summary = 'Median latency of ' + runners.join(', ') +
      '; lines from the fastest to the 99th percentile.';
  const svg = newSvg(width, height, summary);
  const leading = (v) => Number(v.toExponential(0)[0]);
  const round = y.ticks().filter((v) => [1, 2, 5].includes(leading(v)));
  const ticks = round.length > 7 ? round.filter((v) => leading(v) === 1) : round;
  drawTicks(svg, ticks.map((v) => ({at: y(v), text: seconds(v)})), left, right);
  const step = shapes.length > 1 ? Math.min(14, x.step() / (runners.length + 1)) : 14;
  runners.forEach((runner, i) => {
    const mine = points.filter((p) => p.runner === runner);
    if (!mine.length) return;
    const at = (p) => x(p.shapes || '') + (i - (runners.length - 1) / 2) * step;
    svg.append('path').attr('class', 'series')
        .attr('d', d3.line().x(at).y((p) => y(number(p.latency_seconds.median)))(mine));
    const mark = svg.append('g').selectAll('g').data(mine).enter().append('g');
    mark.append('line').attr('class', 'series').attr('x1', at).attr('x2', at)
        .attr('y1', (p) => y(number(p.latency_seconds.min) || number(p.latency_seconds.median))).attr('y2', (p) => y(number(p.latency_seconds.p99)));
    mark.append('circle').attr('class', 'marker').classed('failed', (p) => p.accuracy.compared && !p.accuracy.passed)
        .attr('cx', at).attr('cy', (p) => y(number(p.latency_seconds.median))).attr('r', 4)
        .each(function(p) {
          this.addEventListener('pointermove', (event) => showTip(event,
              `${runner}, ${p.shapes}: ${seconds(p.latency_seconds.median)}`));
          this.addEventListener('pointerleave', hideTip);
        });
    const last = mine[mine.length - 1];
    svg.append('text').attr('x', at(last) + 10).attr('y', y(number(last.latency_seconds.median))).attr('dy', '0.32em')
        .text(runner.slice(0, 24));
  });
  const every = Math.ceil(shapes.length / 6);
  shapes.forEach((shape, i) => {
    if (i % every) return;
    svg.append('text').attr('x', x(shape)).attr('y', bottom + 20).attr('text-anchor', 'middle')
        .text(shape.slice(0, 28));
  });
  return make('figure', {}, svg.node(), make('figcaption', {}, summary +
      ' Filled: it does not compute the same.'));
}

function layersTable(point) {
  if (point.failure || (!point.layers && !point.layers_missing)) return null;
  const title = `Layers of ${point.runner}${point.shapes ? ', ' + point.shapes : ''}`;
  if (!point.layers) return make('p', {class: 'hint'}, `${title}: ${point.layers_missing}.`);
  const all = sum(point.layers.map((layer) => number(layer.seconds)));
  const most = 40;
  const rows = point.layers.slice(0, most).map((layer) => [layer.name || '', layer.type || '',
    seconds(layer.seconds), show(100 * number(layer.seconds) / all, 3) + ' %']);
  const left = point.layers.length - rows.length;
  return make('details', {}, make('summary', {}, title),
      plainTable([{title: 'layer', words: true}, {title: 'type'}, {title: 'time', number: true},
        {title: 'share', number: true}], rows, title),
      left > 0 ? make('p', {class: 'hint'}, `and ${left} shorter ones`) : null);
}
