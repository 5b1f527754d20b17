// A simple layered layout. Ranks are longest paths from the inputs; they run from left to right and
// go on in the next line like text, so that a long chain fills the area instead of a thread in it.

function layOutGraph(graph, aspect) {
  const producer = new Map();
  graph.nodes.forEach((node, index) => (node.outputs || []).forEach((tensor) => {
    if (!producer.has(tensor)) producer.set(tensor, index);
  }));
  const nodes = graph.nodes.map((node, index) => ({index, rank: 0, lane: 0, x: 0, y: 0, from: []}));
  graph.nodes.forEach((node, index) => {
    for (const tensor of node.inputs || []) {
      const source = producer.get(tensor);
      // What runs later in a damaged file must not make a circle.
      if (source === undefined || source >= index) continue;
      nodes[index].from.push(source);
      nodes[index].rank = Math.max(nodes[index].rank, nodes[source].rank + 1);
    }
  });
  const ranks = placeInLanes(nodes);
  const widest = ranks.reduce((most, rank) => Math.max(most, rank.length), 1);
  const perLine = ranks.length <= 14 ? Math.max(1, ranks.length)
      : Math.max(12, Math.round(Math.sqrt(ranks.length * aspect * (Math.min(widest, 6) + 1.2) / 1.6)));
  const lines = placeInLines(ranks, perLine);
  return {nodes, edges: routeEdges(nodes, lines, perLine), lines,
    width: Math.min(perLine, ranks.length), height: lines.length ? lines[lines.length - 1].bottom : 1};
}

// Within a rank, nodes stand in the order of the middle of what they read from.
function placeInLanes(nodes) {
  const ranks = [];
  for (const node of nodes) (ranks[node.rank] = ranks[node.rank] || []).push(node);
  for (const rank of ranks) {
    for (const node of rank) {
      const lanes = node.from.map((source) => nodes[source].lane);
      node.wish = lanes.length ? lanes.reduce((sum, lane) => sum + lane, 0) / lanes.length : 0;
    }
    rank.sort((a, b) => a.wish - b.wish || a.index - b.index);
    rank.forEach((node, i) => {
      node.lane = i - (rank.length - 1) / 2;
    });
  }
  return ranks;
}

function placeInLines(ranks, perLine) {
  const lines = [];
  for (let start = 0; start < ranks.length; start += perLine) {
    const line = ranks.slice(start, start + perLine);
    const height = line.reduce((most, rank) => Math.max(most, rank.length), 1) * 0.7 + 0.9;
    const top = lines.length ? lines[lines.length - 1].bottom : 0;
    lines.push({top, bottom: top + height});
    line.forEach((rank, column) => rank.forEach((node) => {
      node.line = lines.length - 1;
      node.x = column + 0.5;
      node.y = top + height / 2 + node.lane * 0.7;
    }));
  }
  return lines;
}

// Edges as lists of points for smooth lines.
function routeEdges(nodes, lines, perLine) {
  const edges = [];
  for (const node of nodes) {
    for (const source of node.from) {
      const a = nodes[source];
      edges.push({a: source, b: node.index, path: a.line === node.line
          ? withinLine(a, node) : acrossLines(a, node, lines, perLine)});
    }
  }
  return edges;
}

function withinLine(a, b) {
  const span = b.x - a.x;
  // An edge that passes other nodes goes around them.
  const bend = span > 1.5 && Math.abs(a.y - b.y) < 0.5 ? Math.min(0.36, 0.22 + span * 0.02) : 0;
  const middle = (a.y + b.y) / 2 + bend;
  return [[a.x, a.y], [a.x + 0.35, bend ? middle : a.y], [b.x - 0.35, bend ? middle : b.y],
    [b.x, b.y]];
}

function acrossLines(a, b, lines, perLine) {
  const gap = lines[b.line].top + 0.05;
  const right = Math.min(perLine, a.x + 0.55), left = Math.max(0, b.x - 0.55);
  return [[a.x, a.y], [right, a.y], [right, gap], [left, gap], [left, b.y], [b.x, b.y]];
}
