// Error against place in the graph: where it appears, and where it grows.

function layersSection() {
  const section = make('section', {id: 'layers', 'aria-labelledby': 'layers-title'});
  if (!hasCharts || pairs.every((pair, index) => outputsOf(index).length < 2)) return null;
  const choice = make('select', {id: 'metric', onchange: draw},
      ...Object.entries(chartMetrics).map(([key, m]) => make('option', {value: key}, m.label)));
  const figure = make('figure', {});
  section.append(make('div', {class: 'bar'},
      make('h2', {id: 'layers-title'}, 'Error, layer by layer'),
      make('label', {for: 'metric'}, 'metric'), choice), figure);
  state.listeners.push((what) => {
    if (what === 'pair') draw();
    if (what === 'output') mark();
  });
  let dots = null;

  function mark() {
    if (dots) dots.classed('chosen', (d) => d.index === state.output);
  }

  function draw() {
    const metric = chartMetrics[choice.value];
    const all = inGraphOrder(state.pair);
    const data = all.map((entry) => ({...entry, value: metric.of(entry.output)}))
        .filter((entry) => entry.value !== undefined);
    figure.replaceChildren();
    if (!data.length) {
      figure.append(make('p', {class: 'hint'}, 'This was not measured.'));
      return;
    }
    const failed = all.filter((entry) => verdictOf(entry.output) === 'failed');
    const summary = `${some(all.length, 'output')} in the graph's order, ` +
        (data.length < all.length ? `${count(data.length)} of them measured, ` : '') +
        (failed.length ? `${count(failed.length)} failed; the first is ${failed[0].output.name}` : 'none failed') +
        (record.blame ? '. Dots are total errors, rings are own errors.' : '.');
    figure.append(drawLayers(data, metric, summary), make('figcaption', {}, summary));
    mark();
  }

  function drawLayers(data, metric, summary) {
    const width = 760, height = 230, left = 48, right = width - 8, top = 12, bottom = height - 24;
    const own = data.map((d) => d.output.own_error).filter((v) => v !== undefined).map(number);
    const y = errorScale(data.map((d) => d.value).concat(own), bottom, top,
        metric.threshold ? [metric.threshold] : []);
    const x = d3.scaleLinear().domain([0, Math.max(1, data.length - 1)]).range([left + 8, right]);
    const svg = newSvg(width, height, metric.label + ' of ' + summary);
    drawTicks(svg, y.ticks, left, right);
    if (metric.threshold) {
      svg.append('line').attr('class', 'rule').attr('x1', left).attr('x2', right)
          .attr('y1', y(metric.threshold)).attr('y2', y(metric.threshold));
    }
    const text = (d) => `${d.output.name}: ${show(d.value)} ${metric.label}`;
    const radius = data.length > 400 ? 2.5 : 4;
    dots = svg.append('g').selectAll('circle').data(data).enter().append('circle')
        .attr('class', 'dot').classed('failed', (d) => verdictOf(d.output) === 'failed')
        .attr('cx', (d, i) => x(i)).attr('cy', (d) => y(d.value)).attr('r', radius);
    dots.each(function(d) {
      this.addEventListener('click', () => change('output', {output: d.index}));
      this.addEventListener('pointermove', (event) => showTip(event, text(d)));
      this.addEventListener('pointerleave', hideTip);
    });
    svg.append('g').selectAll('circle').data(data.map((d, i) => ({...d, i}))
        .filter((d) => d.output.own_error !== undefined)).enter().append('circle').attr('class', 'own')
        .attr('cx', (d) => x(d.i)).attr('cy', (d) => y(number(d.output.own_error))).attr('r', radius + 2);
    svg.append('text').attr('x', left + 8).attr('y', height - 4).text('first');
    svg.append('text').attr('x', right).attr('y', height - 4).attr('text-anchor', 'end')
        .text('last in the graph\u2019s order');
    return svg.node();
  }

  draw();
  return section;
}
