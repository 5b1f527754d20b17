// Draws the graph and its overview on canvases: thousands of nodes move smoothly.

const readableZoom = 0.82;  // from here on nodes have labels, of at least 9 pixels

// Of one without a name, its first output's.
function nodeName(node) {
  return node.name || (node.outputs || [])[0] || '';
}

// As much of a text as fits, its end or its beginning.
function fittingText(context, text, width, keepsEnd) {
  if (context.measureText(text).width <= width) return text;
  let length = Math.floor(text.length * width / context.measureText(text).width);
  const cut = () => keepsEnd ? '\u2026' + text.slice(text.length - length) : text.slice(0, length) + '\u2026';
  while (length > 1 && context.measureText(cut()).width > width) --length;
  return cut();
}

// The context of a canvas, cleared, in CSS pixels.
function clearedContext(canvas) {
  const ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

class GraphPicture {
  constructor(graph) {
    this.graph = graph;
    this.walker = null;  // the node that the arrow keys are at
    this.collect();
    this.readColors();
  }

  // The worst output of each node.
  collect() {
    this.byNode = new Map();
    outputsOf(state.pair).forEach((output, index) => {
      const node = nodeOf(output);
      if (node === undefined) return;
      const known = this.byNode.get(node);
      const over = number(output.times_over_tolerance);
      if (!known || verdictOf(output) === 'failed' || over > known.over) this.byNode.set(node, {output, index, over});
    });
  }

  readColors() {
    this.colors = {};
    for (const name of ['paper', 'ink', 'line', 'accent', 'calm', 'calm-wash']) this.colors[name] = color(name);
    this.colors.mix = d3.interpolateRgb(this.colors['calm-wash'], this.colors.accent);
  }

  setLayout(layout) {
    this.layout = layout;
    this.paths = {near: new Path2D(), far: new Path2D()};
    for (const edge of layout.edges) tracePath(edge.far ? this.paths.far : this.paths.near, edge.points);
  }

  entryOf(node) {
    return this.byNode.get(node.index);
  }

  isFailed(node) {
    const entry = this.entryOf(node);
    return Boolean(entry) && verdictOf(entry.output) === 'failed';
  }

  isMarked(node) {
    const entry = this.entryOf(node);
    return node === this.walker || (Boolean(entry) && entry.index === state.output);
  }

  // Failed nodes start well inside the scale: shades should not have to be compared.
  fillOf(node) {
    const entry = this.entryOf(node);
    if (!entry) return this.colors.paper;
    if (!this.isFailed(node)) return entry.over > 0.3 ? this.colors.calm : this.colors['calm-wash'];
    const over = Number.isFinite(entry.over) ? Math.max(1, entry.over) : 1e4;
    return this.colors.mix(0.7 + 0.3 * Math.min(1, Math.log10(over) / 3));
  }

  draw(canvas, transform) {
    const context = clearedContext(canvas);
    context.translate(transform.x, transform.y);
    context.scale(transform.k, transform.k);
    this.drawEdges(context, transform.k);
    const top = -transform.y / transform.k - nodeBox.lane;
    const bottom = (canvas.clientHeight - transform.y) / transform.k + nodeBox.lane;
    for (const node of this.layout.nodes) {
      if (node.y > top && node.y < bottom) this.drawNode(context, node, transform.k);
    }
  }

  drawEdges(context, zoom) {
    context.strokeStyle = this.colors.calm;
    for (const [name, alpha] of [['far', 0.35], ['near', 0.8]]) {
      context.globalAlpha = alpha;
      context.lineWidth = 1 / Math.max(0.35, zoom);
      context.stroke(this.paths[name]);
    }
    context.globalAlpha = 1;
    const marked = new Path2D();
    for (const edge of this.layout.edges) {
      if (this.isMarked(edge.a) || this.isMarked(edge.b)) tracePath(marked, edge.points);
    }
    context.strokeStyle = this.colors.ink;
    context.lineWidth = 1.5 / Math.max(0.35, zoom);
    context.stroke(marked);
  }

  drawNode(context, node, zoom) {
    const width = this.layout.box, height = nodeBox.height;
    const failed = this.isFailed(node), marked = this.isMarked(node);
    context.beginPath();
    context.roundRect(node.x - width / 2, node.y - height / 2, width, height, 4);
    context.fillStyle = this.fillOf(node);
    context.fill();
    context.lineWidth = (marked ? 3 : 1) / Math.min(1, Math.max(0.2, zoom));
    context.strokeStyle = marked ? this.colors.ink : failed ? this.colors.accent : this.colors.calm;
    context.stroke();
    if (zoom < readableZoom) return;
    const {op_type: op = '', ...made} = this.graph.nodes[node.index];
    context.fillStyle = failed ? this.colors.paper : this.colors.ink;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.font = '11px ui-sans-serif, system-ui, sans-serif';
    context.fillText(fittingText(context, op, width - 8, false), node.x, node.y - 6);
    context.font = '9px ui-monospace, monospace';  // a name's end tells most
    context.fillText(fittingText(context, nodeName(made), width - 6, true), node.x, node.y + 7);
  }

  // Where a point of the layout is in the overview, which may be squeezed more in one direction.
  overviewScale(canvas) {
    const x = Math.min(0.3, (canvas.clientWidth - 8) / this.layout.width);
    const y = Math.min(0.3, (canvas.clientHeight - 8) / this.layout.height);
    return {x, y, left: (canvas.clientWidth - this.layout.width * x) / 2, top: 4};
  }

  // All nodes, what failed above the others, and what the other canvas shows.
  drawOverview(canvas, transform, size) {
    const context = clearedContext(canvas);
    const scale = this.overviewScale(canvas);
    const width = Math.max(2, this.layout.box * scale.x);
    const height = Math.max(1.5, nodeBox.height * scale.y);
    const mark = (node, fill, more) => {
      context.fillStyle = fill;
      context.fillRect(scale.left + node.x * scale.x - width / 2 - more, scale.top + node.y * scale.y - height / 2 - more,
          width + 2 * more, height + 2 * more);
    };
    const order = (node) => this.isMarked(node) ? 2 : this.isFailed(node) ? 1 : 0;
    for (const node of [...this.layout.nodes].sort((a, b) => order(a) - order(b))) {
      if (this.isMarked(node)) mark(node, this.colors.ink, 2);
      mark(node, this.entryOf(node) ? this.fillOf(node) : this.colors.line, 0);
    }
    const corner = transform.invert([0, 0]);
    context.strokeStyle = this.colors.ink;
    context.lineWidth = 1;
    context.strokeRect(scale.left + corner[0] * scale.x, scale.top + corner[1] * scale.y,
        size.width / transform.k * scale.x, size.height / transform.k * scale.y);
  }

  describe(node) {
    const made = this.graph.nodes[node.index];
    const entry = this.entryOf(node);
    const what = `${made.op_type || ''} ${nodeName(made)}`;
    if (!entry) return what + ': not compared';
    return `${what}: ${verdictOf(entry.output)}, ` +
        (entry.output.tolerances_checked ? show(entry.output.times_over_tolerance) + ' times over tolerance' :
                                'largest absolute error ' + show(entry.output.max_absolute_error));
  }
}
