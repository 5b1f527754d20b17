// The graph on a canvas: thousands of nodes move smoothly. The table of outputs says the same in
// words.

// Of one without a name, its first output's.
function nodeName(node) {
  return node.name || (node.outputs || [])[0] || '';
}

function graphSection() {
  const anything = pairs.some((pair) => (pair.outputs || []).length);
  const alone = !pairs.length && !(record.runners || []).length;  // a model that was looked at
  if (!(anything || alone) || !record.graph || !record.graph.nodes) return null;
  const graph = record.graph;
  const section = make('section', {id: 'graph', 'aria-labelledby': 'graph-title'});
  section.append(make('div', {class: 'bar'}, make('h2', {id: 'graph-title'}, 'Graph')));
  if (!hasCharts) return null;
  const canvas = make('canvas', {class: 'graph', tabindex: 0, role: 'application',
    'aria-roledescription': 'graph', 'aria-describedby': 'graph-help',
    'aria-label': `Graph of ${graph.nodes.length} nodes`});
  const live = make('p', {class: 'visually-hidden', 'aria-live': 'polite', id: 'graph-live'});
  const buttons = [['+', 'Zoom in', () => zoomBy(1.6)], ['\u2212', 'Zoom out', () => zoomBy(1 / 1.6)],
    ['fit', 'Show the whole graph', () => fit()]];
  for (const [text, label, act] of buttons) {
    section.firstChild.append(make('button', {type: 'button', 'aria-label': label, onclick: act}, text));
  }
  section.append(canvas, live, make('p', {class: 'hint', id: 'graph-help'},
      'From left to right, line by line. Grey: within tolerance ', make('span', {class: 'scale'}),
      ' far out of it; hollow: not compared. Wheel or + and \u2212 zoom, 0 shows all, arrows walk from ' +
      'node to node, Enter chooses.'));

  const context = canvas.getContext('2d');
  const layout = layOutGraph(graph, 2.3);
  const cell = 60;  // one rank in pixels before zooming
  // A short chain needs no more room than its width gives it.
  const tall = 700 * layout.height / Math.max(layout.width, 8);
  canvas.style.height = Math.round(Math.min(420, Math.max(130, tall))) + 'px';
  let transform = d3.zoomIdentity;
  let byNode = new Map();
  let walker = -1;
  let colors = {};
  let pending = 0;
  const tree = d3.quadtree().x((n) => n.x * cell).y((n) => n.y * cell).addAll(layout.nodes);
  const zoom = d3.zoom().scaleExtent([0.02, 8]).on('zoom', (event) => {
    transform = (event && event.transform) || d3.event.transform;  // d3 5 has it in a variable
    drawSoon();
  });
  const selection = d3.select(canvas).call(zoom).on('dblclick.zoom', null);

  function collect() {
    byNode = new Map();
    outputsOf(state.pair).forEach((output, index) => {
      const node = nodeOf(output);
      if (node === undefined) return;
      const known = byNode.get(node);
      const worse = !known || verdictOf(output) === 'failed' || number(output.times_over_tolerance) > known.over;
      if (worse) byNode.set(node, {output, index, over: number(output.times_over_tolerance)});
    });
  }

  function readColors() {
    for (const name of ['paper', 'ink', 'soft', 'line', 'accent', 'calm', 'calm-wash', 'wash']) {
      colors[name] = color(name);
    }
    colors.mix = d3.interpolateRgb(colors['calm-wash'], colors.accent);
  }

  // Failed nodes start well inside the scale: nobody should have to compare shades.
  function fillOf(entry) {
    if (!entry) return colors.paper;
    if (verdictOf(entry.output) !== 'failed') return entry.over > 0.3 ? colors.calm : colors['calm-wash'];
    const over = Number.isFinite(entry.over) ? Math.max(1, entry.over) : 1e4;
    return colors.mix(0.55 + 0.45 * Math.min(1, Math.log10(over) / 3));
  }

  function drawSoon() {
    if (!pending) {
      pending = requestAnimationFrame(() => {
        pending = 0;
        draw();
      });
    }
  }

  function draw() {
    const ratio = devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (canvas.width !== width * ratio) canvas.width = width * ratio;
    if (canvas.height !== height * ratio) canvas.height = height * ratio;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.translate(transform.x, transform.y);
    context.scale(transform.k, transform.k);
    const view = {left: -transform.x / transform.k, top: -transform.y / transform.k,
      right: (width - transform.x) / transform.k, bottom: (height - transform.y) / transform.k};
    drawEdges(view);
    for (const node of layout.nodes) {
      if (inView(node, view)) drawNode(node);
    }
  }

  function inView(node, view) {
    const x = node.x * cell, y = node.y * cell;
    return x > view.left - cell && x < view.right + cell && y > view.top - cell && y < view.bottom + cell;
  }

  function drawEdges(view) {
    context.strokeStyle = colors.line;
    context.lineWidth = 1.2 / Math.max(0.35, transform.k);
    context.beginPath();
    const line = d3.line().x((p) => p[0] * cell).y((p) => p[1] * cell).context(context);
    const smooth = line.curve(d3.curveBasis);
    for (const edge of layout.edges) {
      const a = layout.nodes[edge.a], b = layout.nodes[edge.b];
      if (a.line !== b.line || inView(a, view) || inView(b, view)) smooth(edge.path);
    }
    context.stroke();
  }

  function drawNode(node) {
    const entry = byNode.get(node.index);
    const x = node.x * cell, y = node.y * cell;
    const named = transform.k > 0.95;
    const dot = Math.min(34, Math.max(13, 5.5 / transform.k));  // large enough to see from afar
    const w = named ? 46 : dot, h = named ? 22 : dot;
    context.beginPath();
    context.roundRect(x - w / 2, y - h / 2, w, h, named ? 4 : dot / 2);
    context.fillStyle = fillOf(entry);
    context.fill();
    const chosen = entry && entry.index === state.output;
    const failed = entry && verdictOf(entry.output) === 'failed';
    const thin = 1 / Math.max(1, transform.k);
    context.lineWidth = chosen || node.index === walker ? 3 * thin : failed ? 1.5 * thin : thin;
    context.strokeStyle = chosen || node.index === walker ? colors.ink
        : failed ? colors.accent : colors.calm;
    context.stroke();
    if (!named) return;
    context.fillStyle = failed ? colors.paper : colors.ink;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.font = '8px ui-sans-serif, system-ui, sans-serif';
    const close = transform.k > 1.8;  // room for a name, whose end tells most
    context.fillText((graph.nodes[node.index].op_type || '').slice(0, 14), x, close ? y - 4 : y, w - 4);
    if (!close) return;
    context.font = '4.5px ui-monospace, monospace';
    const name = nodeName(graph.nodes[node.index]);
    context.fillText((name.length > 18 ? '\u2026' : '') + name.slice(-18), x, y + 5, w - 4);
  }

  function describe(index) {
    const node = graph.nodes[index];
    const entry = byNode.get(index);
    const what = `${node.op_type || ''} ${nodeName(node)}`;
    if (!entry) return what + ': not compared';
    return `${what}: ${verdictOf(entry.output)}, ` +
        (entry.output.tolerances_checked ? show(entry.output.times_over_tolerance) + ' times over tolerance' :
                                'largest absolute error ' + show(entry.output.max_absolute_error));
  }

  function nodeAt(event) {
    const box = canvas.getBoundingClientRect();
    const [x, y] = transform.invert([event.clientX - box.left, event.clientY - box.top]);
    const reach = transform.k > 0.95 ? 26 : Math.max(9, 9 / transform.k);
    return tree.find(x, y, reach);
  }

  function choose(index) {
    const entry = byNode.get(index);
    live.textContent = describe(index);
    if (entry) change('output', {output: entry.index});
  }

  function zoomBy(factor) {
    selection.call(zoom.scaleBy, factor);
  }

  function fit() {
    const width = canvas.clientWidth || 700, height = canvas.clientHeight || 380;
    const k = Math.min(1.6, 0.94 * Math.min(width / (layout.width * cell), height / (layout.height * cell)));
    const x = (width - layout.width * cell * k) / 2, y = (height - layout.height * cell * k) / 2;
    selection.call(zoom.transform, d3.zoomIdentity.translate(x, y).scale(k));
  }

  function walk(step) {
    const chosen = layout.nodes.findIndex((n) => {
      const entry = byNode.get(n.index);
      return entry && entry.index === state.output;
    });
    const from = walker >= 0 ? walker : chosen;
    walker = Math.min(layout.nodes.length - 1, Math.max(0, from + step));
    const node = layout.nodes[walker];
    const [x, y] = transform.apply([node.x * cell, node.y * cell]);
    const away = x < 20 || y < 20 || x > canvas.clientWidth - 20 || y > canvas.clientHeight - 20;
    if (away) selection.call(zoom.translateTo, node.x * cell, node.y * cell);
    live.textContent = describe(walker);
    drawSoon();
  }

  const keys = {ArrowRight: () => walk(1), ArrowDown: () => walk(1), ArrowLeft: () => walk(-1),
    ArrowUp: () => walk(-1), Enter: () => walker >= 0 && choose(walker), '+': () => zoomBy(1.6),
    '=': () => zoomBy(1.6), '-': () => zoomBy(1 / 1.6), 0: () => fit()};
  canvas.addEventListener('keydown', (event) => {
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  canvas.addEventListener('click', (event) => {
    const node = nodeAt(event);
    if (!node) return;
    walker = node.index;
    choose(node.index);
    drawSoon();
  });
  canvas.addEventListener('pointermove', (event) => {
    const node = event.buttons ? undefined : nodeAt(event);
    if (node) showTip(event, describe(node.index));
    else hideTip();
  });
  canvas.addEventListener('pointerleave', hideTip);
  state.listeners.push((what) => {
    if (what === 'pair') collect();
    if (what === 'output') walker = -1;
    drawSoon();
  });
  onTheme(() => {
    readColors();
    drawSoon();
  });
  collect();
  readColors();
  new ResizeObserver(drawSoon).observe(canvas);
  requestAnimationFrame(fit);
  return section;
}
