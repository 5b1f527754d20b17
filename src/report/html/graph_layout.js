// A layered layout, in pixels before zooming. Ranks are longest paths from the inputs; they run from
// left to right and go on in the next line like text. A chain keeps its lane; branches and short skip
// connections get lanes beside it. Long ones go around: they need room between lines only.

const nodeBox = {gutter: 16, height: 30, lane: 42, passing: 14};  // a lane without nodes is low
const graphMargin = 26;  // left and right, for what goes on in another line
const longestSkip = 16;  // ranks; what is longer goes around
const farthestLane = 3;  // and so does what finds no lane this near

// `left out` are the indices of nodes that are not drawn; a line has at most `columns` ranks.
function layOutGraph(graph, leftOut, columns, width) {
  const nodes = connectedNodes(graph, leftOut);
  rankNodes(nodes);
  const ranks = Array.from({length: nodes.reduce((most, node) => Math.max(most, node.rank + 1), 0)}, () => []);
  for (const node of nodes) ranks[node.rank].push(node);
  const taken = placeInLanes(ranks);
  const lines = breakLines(nodes, ranks.length, columns);
  const cell = (width - 2 * graphMargin) / columns;
  placeInLines(nodes, ranks, taken, lines, cell);
  const layout = {nodes, lines, width, box: cell - nodeBox.gutter,
    height: lines.length ? lines[lines.length - 1].next : 0};
  layout.edges = routeEdges(layout);
  return layout;
}

function connectedNodes(graph, leftOut) {
  const makers = new Map();
  const inputs = new Set(graph.inputs);
  const nodes = [];
  graph.nodes.forEach((made, index) => {
    if (leftOut.has(index)) return;
    // What runs later in a damaged file is not known here yet, and makes no circle.
    const from = [...new Set((made.inputs || []).map((tensor) => makers.get(tensor)))].filter(Boolean);
    const live = (made.inputs || []).some((tensor) => inputs.has(tensor)) || from.some((node) => node.live);
    const node = {index, from, to: [], live, rank: 0, tail: 0, lane: 0};
    for (const source of from) source.to.push(node);
    for (const tensor of made.outputs || []) {
      if (!makers.has(tensor)) makers.set(tensor, node);
    }
    nodes.push(node);
  });
  return nodes;
}

// What depends on no input, as weights that are unpacked, stands right before its first reader.
function rankNodes(nodes) {
  for (const node of nodes) {
    for (const source of node.from) {
      if (source.live === node.live) node.rank = Math.max(node.rank, source.rank + 1);
    }
  }
  for (const node of [...nodes].reverse()) {
    for (const reader of node.to) node.tail = Math.max(node.tail, reader.tail + 1);
    if (!node.live && node.to.length) node.rank = Math.min(...node.to.map((reader) => reader.rank)) - 1;
  }
  const least = nodes.reduce((low, node) => Math.min(low, node.rank), 0);
  for (const node of nodes) node.rank -= least;
}

// The lanes that are taken in each rank, by nodes and by what passes them.
function placeInLanes(ranks) {
  const taken = ranks.map(() => new Set());
  const goesOn = (node) => node.to.some((reader) => reader.rank === node.rank + 1);
  ranks.forEach((rank, r) => {
    // Of several, the one that goes on longest keeps the lane.
    rank.sort((a, b) => b.live - a.live || b.tail - a.tail || a.index - b.index);
    for (const node of rank) {
      node.lane = nearestLane(wishedLane(node), (lane) => !taken[r].has(lane), Infinity);
      taken[r].add(node.lane);
    }
    const kept = new Set(rank.filter(goesOn).map((node) => node.lane));
    for (const node of rank) passOthers(node, taken, kept);
  });
  return taken;
}

function wishedLane(node) {
  const lanes = node.from.filter((source) => source.rank === node.rank - 1).map((source) => source.lane);
  if (lanes.length) return lanes.reduce((best, lane) => Math.abs(lane) < Math.abs(best) ? lane : best);
  // One that reads nothing stands beside the others that its reader reads.
  const beside = node.to.length && node.to[0].from.find((other) => other.live && other.rank <= node.rank);
  return beside ? beside.lane : 0;
}

function nearestLane(wish, isFree, farthest) {
  for (let away = 0; away <= farthest; ++away) {
    if (isFree(wish + away)) return wish + away;
    if (isFree(wish - away)) return wish - away;
  }
  return undefined;
}

// One lane for all short skip connections of a node, past the nodes between.
function passOthers(node, taken, kept) {
  const ends = node.to.map((reader) => reader.rank)
      .filter((rank) => rank > node.rank + 1 && rank <= node.rank + longestSkip);
  if (!ends.length) return;
  const between = taken.slice(node.rank + 1, Math.max(...ends));
  const lane = nearestLane(node.lane,
      (wanted) => !kept.has(wanted) && between.every((lanes) => !lanes.has(wanted)), farthestLane);
  if (lane === undefined) return;
  for (const lanes of between) lanes.add(lane);
  node.skip = {lane, last: Math.max(...ends)};
}

// Lines end where the fewest connections go on in the next.
function breakLines(nodes, length, columns) {
  const crossing = new Array(length + 1).fill(0);
  for (const node of nodes) {
    const next = node.to.some((reader) => reader.rank === node.rank + 1) ? node.rank + 1 : node.rank;
    const last = node.skip ? node.skip.last : next;
    for (let rank = node.rank + 1; rank <= last; ++rank) ++crossing[rank];
  }
  const lines = [];
  for (let start = 0; start < length;) {
    let end = Math.min(length, start + columns);
    const shortest = start + Math.ceil(columns * 0.6);
    for (let rank = end - 1; end < length && rank >= shortest; --rank) {
      if (crossing[rank] < crossing[end]) end = rank;
    }
    lines.push({start, end});
    start = end;
  }
  return lines;
}

// Its height, once every lane of the line has its place.
function stackLanes(line, taken, ranks) {
  const withNodes = new Set(ranks.slice(line.start, line.end).flat().map((node) => node.lane));
  const lanes = new Set(taken.slice(line.start, line.end).flatMap((set) => [...set]));
  line.lanes = new Map();
  let height = 0;
  for (const lane of [...lanes].sort((a, b) => a - b)) {
    const room = withNodes.has(lane) ? nodeBox.lane : nodeBox.passing;
    line.lanes.set(lane, line.top + height + room / 2);
    height += room;
  }
  return height;
}

function placeInLines(nodes, ranks, taken, lines, cell) {
  let top = 0;
  const lineOf = [];
  lines.forEach((line, number) => {
    line.top = top;
    line.bottom = top + stackLanes(line, taken, ranks);
    line.right = graphMargin + (line.end - line.start) * cell - nodeBox.gutter / 2;
    line.tracks = new Map();
    for (const node of nodes) {
      if (node.rank >= line.end) continue;
      if (node.rank === line.end - 1) line.tracks.set(node, line.tracks.size);
      else if (node.skip && node.skip.last >= line.end) line.tracks.set(node, line.tracks.size);
    }
    line.next = top = line.bottom + 12 + 4 * line.tracks.size;
    for (let rank = line.start; rank < line.end; ++rank) lineOf[rank] = number;
  });
  for (const node of nodes) {
    node.line = lineOf[node.rank];
    node.x = graphMargin + (node.rank - lines[node.line].start + 0.5) * cell;
    node.y = lines[node.line].lanes.get(node.lane);
  }
}

// Each as points that tracePath() joins.
function routeEdges(layout) {
  const edges = [];
  for (const b of layout.nodes) {
    for (const a of b.from) {
      const near = b.rank === a.rank + 1 || (a.skip && b.rank <= a.skip.last);
      edges.push({a, b, far: !near, points: near ? nearRoute(a, b, layout) : farRoute(a, b, layout)});
    }
  }
  return edges;
}

function nearRoute(a, b, {lines, box}) {
  const points = [[a.x + box / 2, a.y]];
  let y = a.y;
  for (let number = a.line; number <= b.line; ++number) {
    const line = lines[number];
    // Past nodes of this line, in the lane that was kept free for it.
    const from = number === a.line ? a.rank + 1 : line.start;
    const to = number === b.line ? b.rank : line.end;
    if (from < to) {
      y = line.lanes.get(a.skip.lane);
      if (number === a.line) points.push([a.x + box / 2 + nodeBox.gutter, y]);
      if (number === b.line) points.push([b.x - box / 2 - nodeBox.gutter, y]);
    }
    if (number === b.line) break;
    const next = lines[number + 1];
    const track = line.tracks.get(a) || 0;
    const right = line.right + 4 + 3 * (track % 5), left = graphMargin - 3 * (track % 5);
    const gap = line.bottom + 4 + 4 * track;
    const last = number + 1 === b.line && b.rank === next.start;
    const below = last ? b.y : next.lanes.get(a.skip.lane);
    points.push([right, y], [right, gap], [left, gap], [left, below]);
    y = below;
  }
  points.push([b.x - box / 2, b.y]);
  return points;
}

// Down or up the margin, and between the lines.
function farRoute(a, b, {lines, box}) {
  const start = lines[a.line].next - 5;
  const end = b.line > a.line ? lines[b.line - 1].next - 5 : start;
  const points = [[a.x + box / 2, a.y], [a.x + box / 2 + nodeBox.gutter, start]];
  if (end !== start) points.push([5, start], [5, end]);
  points.push([b.x - box / 2 - nodeBox.gutter, end], [b.x - box / 2, b.y]);
  return points;
}

// Lines along the axes with round corners; anything else is a curve that begins and ends level.
function tracePath(path, points) {
  path.moveTo(...points[0]);
  for (let i = 1; i < points.length; ++i) {
    const [px, py] = points[i - 1], [x, y] = points[i], [nx, ny] = points[i + 1] || [x, y];
    if (x !== px && y !== py) {
      path.bezierCurveTo((px + x) / 2, py, (px + x) / 2, y, x, y);
    } else if ((x === px && ny === y && nx !== x) || (y === py && nx === x && ny !== y)) {
      const lengths = [x - px, y - py, nx - x, ny - y].map(Math.abs).filter((length) => length > 0);
      path.arcTo(x, y, nx, ny, Math.min(6, ...lengths.map((length) => length / 2)));
    } else {
      path.lineTo(x, y);
    }
  }
}
