// The graph: it opens at the chosen output's node, at a size at which labels can be read, with the
// whole as an overview beside it. The table of outputs says the same in words.

const tallestGraph = 460;  // pixels

function graphSection() {
  const anything = pairs.some((pair) => (pair.outputs || []).length);
  const alone = !pairs.length && !(record.runners || []).length;  // a model that was looked at
  if (!hasCharts || !(anything || alone) || !record.graph || !record.graph.nodes) return null;
  const leftOut = constantsOf(record.graph);
  const drawn = record.graph.nodes.length - leftOut.size;
  if (!drawn) return null;
  const canvas = make('canvas', {class: 'graph', tabindex: 0, role: 'application',
    'aria-roledescription': 'graph', 'aria-describedby': 'graph-help',
    'aria-label': `Graph of ${some(drawn, 'node')}`});
  const about = 'Overview of all nodes: click or drag to move the view';
  const overview = make('canvas', {class: 'overview', role: 'img', 'aria-label': about, title: about});
  const live = make('p', {class: 'visually-hidden', 'aria-live': 'polite', id: 'graph-live'});
  const view = new GraphView(canvas, overview, live, leftOut);
  const buttons = [['+', 'Zoom in', () => view.zoomBy(1.6)], ['\u2212', 'Zoom out', () => view.zoomBy(1 / 1.6)],
    ['reset', alone ? 'Back to the first node' : 'Back to the chosen node', () => view.reset()]].map(([text, label, act]) =>
    make('button', {type: 'button', 'aria-label': label, onclick: act}, text));
  const frame = make('div', {class: 'graph-frame'}, canvas, overview);
  new ResizeObserver(() => view.resize(frame.clientWidth)).observe(frame);
  return make('section', {id: 'graph', 'aria-labelledby': 'graph-title'},
      make('div', {class: 'bar'}, make('h2', {id: 'graph-title'}, 'Graph'), ...buttons), frame, live,
      make('p', {class: 'hint', id: 'graph-help'},
          'From left to right, line by line. ', ...(alone ? [] : ['Grey: within tolerance ',
            make('span', {class: 'scale'}), ' far out of it; hollow: not compared. ']),
          'Pale lines: what is read from far away. Wheel or + and \u2212 zoom, 0 goes back to where the view ' +
          'began, arrows walk from node to node, Enter chooses.' +
          (leftOut.size ? ` Left out: ${some(leftOut.size, 'constant')}.` : '')));
}

// Constants are no more drawn than other weights are, unless they were compared.
function constantsOf(graph) {
  const compared = new Set(pairs.flatMap((pair) => (pair.outputs || []).map(nodeOf)));
  return new Set(graph.nodes.map((node, index) => index)
      .filter((index) => graph.nodes[index].op_type === 'Constant' && !compared.has(index)));
}

class GraphView {
  constructor(canvas, overview, live, leftOut) {
    Object.assign(this, {canvas, overview, live, leftOut, transform: d3.zoomIdentity, width: 0, pending: 0});
    this.picture = new GraphPicture(record.graph);
    this.zoom = d3.zoom().on('zoom', (event) => {
      this.transform = (event && event.transform) || d3.event.transform;  // d3 5 has it in a variable
      this.drawSoon();
    });
    this.selection = d3.select(canvas).call(this.zoom).on('dblclick.zoom', null);
    this.listen();
    state.listeners.push((what) => {
      if (what === 'pair') this.picture.collect();
      if (what === 'output') this.picture.walker = null;
      if (what === 'output' && this.chosen() && !this.isSeen(this.chosen())) this.moveTo(this.chosen());
      this.drawSoon();
    });
    onTheme(() => {
      this.picture.readColors();
      this.drawSoon();
    });
  }

  get layout() {
    return this.picture.layout;
  }

  // The overview is there where the whole cannot be read at once.
  resize(width) {
    if (!width || width === this.width) return;
    this.width = width;
    this.picture.walker = null;
    const layOut = (room) => layOutGraph(record.graph, this.leftOut, Math.max(3, Math.floor(room / 92)), room);
    this.picture.setLayout(layOut(width));
    this.overview.hidden = this.layout.height <= tallestGraph;
    const room = this.overview.hidden ? width : width - 118;
    if (!this.overview.hidden) this.picture.setLayout(layOut(room));
    const height = Math.min(tallestGraph, this.layout.height);
    this.canvas.style.width = room + 'px';
    this.canvas.style.height = this.overview.style.height = height + 'px';
    const whole = Math.min(1, height / this.layout.height);
    this.zoom.scaleExtent([whole * 0.9, 3]).translateExtent([[-4, -4], [this.layout.width + 4, this.layout.height + 4]]);
    this.reset();
  }

  drawSoon() {
    if (this.pending || !this.layout) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      this.picture.draw(this.canvas, this.transform);
      if (this.overview.hidden) return;
      this.picture.drawOverview(this.overview, this.transform,
          {width: this.canvas.clientWidth, height: this.canvas.clientHeight});
    });
  }

  chosen() {
    return this.layout && this.layout.nodes.find((node) => {
      const entry = this.picture.entryOf(node);
      return entry && entry.index === state.output;
    });
  }

  isSeen(node) {
    const [x, y] = this.transform.apply([node.x, node.y]);
    const edge = this.transform.k * nodeBox.height;
    return x > edge && y > edge && x < this.canvas.clientWidth - edge && y < this.canvas.clientHeight - edge;
  }

  moveTo(place) {
    this.selection.call(this.zoom.translateTo, place.x, place.y);
  }

  zoomBy(factor) {
    this.selection.call(this.zoom.scaleBy, factor);
  }

  // Where the page began.
  reset() {
    this.selection.call(this.zoom.transform, d3.zoomIdentity);
    this.moveTo(this.chosen() || this.layout.nodes[0]);
  }

  nodeAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = this.transform.invert([event.clientX - box.left, event.clientY - box.top]);
    return this.layout.nodes.find((node) => Math.abs(node.x - x) <= this.layout.box / 2 &&
        Math.abs(node.y - y) <= nodeBox.height / 2);
  }

  choose(node) {
    const entry = this.picture.entryOf(node);
    this.live.textContent = this.picture.describe(node);
    if (entry) change('output', {output: entry.index});
    this.picture.walker = node;
    this.drawSoon();
  }

  walk(step) {
    const nodes = this.layout.nodes;
    const from = nodes.indexOf(this.picture.walker || this.chosen());
    const node = nodes[Math.min(nodes.length - 1, Math.max(0, from + step))];
    this.picture.walker = node;
    if (!this.isSeen(node)) this.moveTo(node);
    this.live.textContent = this.picture.describe(node);
    this.drawSoon();
  }

  listen() {
    const {canvas, overview} = this;
    const keys = {ArrowRight: () => this.walk(1), ArrowDown: () => this.walk(1), ArrowLeft: () => this.walk(-1),
      ArrowUp: () => this.walk(-1), Enter: () => this.picture.walker && this.choose(this.picture.walker),
      '+': () => this.zoomBy(1.6), '=': () => this.zoomBy(1.6), '-': () => this.zoomBy(1 / 1.6), 0: () => this.reset()};
    canvas.addEventListener('keydown', (event) => {
      const act = keys[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
    canvas.addEventListener('click', (event) => {
      const node = this.nodeAt(event);
      if (node) this.choose(node);
    });
    canvas.addEventListener('pointermove', (event) => {
      const node = event.buttons ? undefined : this.nodeAt(event);
      if (node) showTip(event, this.picture.describe(node));
      else hideTip();
    });
    canvas.addEventListener('pointerleave', hideTip);
    overview.addEventListener('pointerdown', (event) => {
      overview.setPointerCapture(event.pointerId);
      this.moveToOverview(event);
    });
    overview.addEventListener('pointermove', (event) => {
      if (event.buttons) this.moveToOverview(event);
    });
  }

  moveToOverview(event) {
    const box = this.overview.getBoundingClientRect();
    const scale = this.picture.overviewScale(this.overview);
    this.moveTo({x: (event.clientX - box.left - scale.left) / scale.x, y: (event.clientY - box.top - scale.top) / scale.y});
  }
}
