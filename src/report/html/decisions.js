// What runners decided: who agrees how often, by which margins, and the worst flips of each pair.

const flipWords = {'near tie': 'near tie', clear: 'clear', invalid: 'NaN'};

function percent(share) {
  const value = number(share);
  return Number.isNaN(value) ? '\u2013' : show(100 * value) + '\u00a0%';
}

function decisionsSection() {
  if (!pairs.some((pair) => (pair.decisions || []).length)) return null;
  const section = make('section', {id: 'decisions', 'aria-labelledby': 'decisions-title'},
      make('h2', {id: 'decisions-title'}, 'Decisions'));
  for (const pair of pairs) {
    const decisions = pair.decisions || [];
    if (!decisions.length) continue;
    if (pairs.length > 1) section.append(make('h3', {}, pair.title));
    section.append(decisionTable(pair, decisions));
    if (decisions.some((decision) => decision.labels)) {
      section.append(labelTable(pair, decisions), ...answerTable(pair, decisions));
    }
    if (decisions.some((decision) => decision.precision)) section.append(...precisionTable(pair, decisions));
    if (decisions.some((decision) => decision.boxes)) section.append(boxTable(pair, decisions));
    const maps = decisions.filter((decision) => (decision.class_ious || []).length);
    if (maps.length) section.append(classTable(pair, maps));
    if ((pair.decision_gates || []).length) section.append(gateTable(pair));
    for (const decision of decisions) section.append(...decisionDetails(decision));
  }
  return section;
}

function decisionTable(pair, decisions) {
  const columns = [{title: 'decision', words: true}, {title: 'output', words: true},
    {title: 'samples', number: true}, {title: 'agree', number: true}, {title: '95 % interval', words: true},
    {title: 'flips', number: true}, {title: 'clear', number: true}, {title: 'near ties', number: true},
    {title: 'NaN', number: true}];
  const rows = decisions.map((d) => [d.kind || '', d.output || '', count(d.samples), percent(d.agreement),
    `${percent(d.interval_low)} to ${percent(d.interval_high)}`, count(d.flips), count(d.clear_flips),
    count(d.near_ties), count(d.invalid)]);
  return plainTable(columns, rows, `Decisions of ${pair.title}`);
}

function labelTable(pair, decisions) {
  const columns = [{title: 'decision', words: true}, {title: 'metric', words: true}, {title: 'samples', number: true},
    {title: 'reference', number: true}, {title: 'candidate', number: true}, {title: 'drop, or rise of an error', number: true},
    {title: '95 % interval', words: true}];
  const rows = decisions.filter((decision) => decision.labels).flatMap((decision) => {
    const of = decision.labels;
    const name = `${decision.kind} of ${decision.output || ''}`;
    // Errors are in units of their own, and rise.
    const share = of.metric === 'mean absolute error' ? (value) => show(number(value)) : percent;
    const errors = (of.errors || []).map((error) => [name, error.metric, count(of.samples),
      show(number(error.first)), show(number(error.second)), show(number(error.rise)),
      `${show(number(error.rise_low))} to ${show(number(error.rise_high))}`]);
    return [[name, of.metric, count(of.samples), share(of.first), share(of.second), share(of.drop),
      `${share(of.drop_low)} to ${share(of.drop_high)}`], ...errors];
  });
  return plainTable(columns, rows, `Labels of ${pair.title}`);
}

// Of samples that are right or wrong; empty where none is.
function answerTable(pair, decisions) {
  const columns = [{title: 'decision', words: true}, {title: 'right to wrong', number: true},
    {title: 'wrong to right', number: true}, {title: 'wrong to wrong', number: true},
    {title: 'p (McNemar)', number: true}, {title: 'samples to see a change', words: true}];
  const rows = decisions.filter(({labels}) => labels && !Number.isNaN(number(labels.p))).map((decision) => {
    const of = decision.labels;
    const power = of.samples_to_see ? `about ${count(of.samples_to_see)} for ${percent(of.change)}` : '\u2013';
    return [`${decision.kind} of ${decision.output || ''}`, count(of.right_to_wrong), count(of.wrong_to_right),
      count(of.wrong_to_wrong), show(number(of.p)), power];
  });
  return rows.length ? [plainTable(columns, rows, `Right and wrong answers of ${pair.title}`)] : [];
}

// Of labelled boxes. Where no object counts there is no figure.
function precisionTable(pair, decisions) {
  const columns = [{title: 'decision', words: true}, {title: 'metric', words: true},
    {title: 'images', words: true}, {title: 'reference', number: true}, {title: 'candidate', number: true},
    {title: 'drop', number: true}, {title: '95 % interval', words: true}];
  const metrics = [['mAP@[.5:.95]', 'ap'], ['AP50', 'ap50'], ['AP75', 'ap75'], ['AP small', 'ap_small'],
    ['AP medium', 'ap_medium'], ['AP large', 'ap_large']];
  const labelled = decisions.filter((decision) => decision.precision);
  const rows = labelled.flatMap((decision) => {
    const of = decision.precision;
    const images = `${count(of.images)} of ${count(of.listed)}`;
    const figure = (value) => Number.isNaN(value) ? '\u2013' : show(value);
    return metrics.map(([title, key], i) => {
      const first = number(of.first[key]), second = number(of.second[key]);
      const low = i === 0 && of.intervals ? number(of.intervals.drop_low) : NaN;
      const interval = Number.isNaN(low) ? '\u2013' : `${show(low)} to ${show(number(of.intervals.drop_high))}`;
      return [`${decision.kind} of ${decision.output || ''}`, title, images, figure(first), figure(second),
        figure(first - second), interval];
    }).filter((row, i) => i < 3 || row[3] !== '\u2013' || row[4] !== '\u2013');
  });
  const units = labelled.map(({kind, output, precision}) => `${kind} of ${output || ''}: ` +
      (precision.units ? `boxes taken as ${precision.units}` : 'nothing was detected'));
  return [plainTable(columns, rows, `Labels of boxes of ${pair.title}`),
    make('p', {class: 'hint'}, `${units.join('; ')}.`)];
}

function boxTable(pair, decisions) {
  const columns = [{title: 'decision', words: true}, {title: 'boxes matched', number: true},
    {title: 'lost', number: true}, {title: 'invented', number: true}, {title: 'class changed', number: true},
    {title: 'mean IoU of the matched', number: true}];
  const rows = decisions.filter((decision) => decision.boxes).map(({kind, output, boxes}) => [
    `${kind} of ${output || ''}`, count(boxes.matched), count(boxes.lost), count(boxes.invented),
    count(boxes.class_changed), boxes.matched ? show(number(boxes.mean_iou)) : '\u2013']);
  return plainTable(columns, rows, `Boxes of ${pair.title}`);
}

// The classes of maps, the least alike first.
function classTable(pair, decisions) {
  const most = 50;
  const columns = [{title: 'decision', words: true}, {title: 'class', words: true}, {title: 'IoU', number: true},
    {title: 'positions of the reference', number: true}, {title: 'of the candidate', number: true},
    {title: 'of both', number: true}];
  const rows = decisions.flatMap(({kind, output, class_ious: classes}) => {
    const name = `${kind} of ${output || ''}`;
    const mean = sum(classes.map((of) => number(of.iou))) / classes.length;
    const worst = [...classes].sort((a, b) => number(a.iou) - number(b.iou)).slice(0, most);
    const shown = worst.length < classes.length ? ` (the least ${most} follow)` : '';
    return [[name, `mean over ${count(classes.length)}${shown}`, show(mean), '\u2013', '\u2013',
      '\u2013'], ...worst.map((of) => [name, of.name || String(of.class), show(number(of.iou)), count(of.first),
      count(of.second), count(of.both)])];
  });
  return plainTable(columns, rows, `Classes of ${pair.title}`);
}

function gateTable(pair) {
  const columns = [{title: 'gate', words: true}, {title: 'decision', words: true}, {title: 'limit', number: true},
    {title: 'value', number: true}, {title: 'verdict', words: true}];
  const rows = pair.decision_gates.map((gate) => [gate.gate, `${gate.kind} of ${gate.output || ''}`,
    show(number(gate.limit)), show(number(gate.value)), gateVerdict(gate)]);
  return plainTable(columns, rows, `Gates of ${pair.title}`);
}

function gateVerdict(gate) {
  if (!gate.undecided) return gate.verdict;
  const more = gate.samples_to_decide ? `, about ${count(gate.samples_to_decide)} samples would decide` : '';
  const flips = gate.verdict === 'failed' ? 'clear ' : 'near ties ';
  const kind = gate.gate === '--max-clear-flips' ? flips : '';
  const doubts = gate.doubtful_by ? `: ${kind}${gate.doubtful_by}` : '';
  return `${gate.verdict}, undecided${more}${doubts}`;
}

function flipPlace(flip) {
  if (flip.sequence === undefined) return count(flip.iteration);
  return `step ${count(flip.step)} of sequence ${count(flip.sequence)}`;
}

function decisionDetails(decision) {
  const parts = [];
  const name = `${decision.kind} of ${decision.output || ''}`;
  if (decision.vacuous) {
    parts.push(make('p', {class: 'wrong'}, `${name} shows nothing: ${decision.vacuous}.`));
  }
  if (decision.negative_boxes) {
    parts.push(make('p', {class: 'wrong'},
      `${name}: boxes with a negative width or height, which overlap nothing: ${decision.negative_boxes}.`));
  }
  if (decision.scores_above_one) {
    parts.push(make('p', {class: 'wrong'},
      `${name}: boxes with a score above 1, which is not a probability: ${decision.scores_above_one}.`));
  }
  if (hasCharts && sum(decision.margin_counts || []) > 0) parts.push(marginChart(decision, name));
  const worst = decision.worst || [];
  if (!worst.length) return parts;
  const first = decision.first_flip;
  if (first && first.sequence !== undefined) {
    parts.push(make('p', {}, `${name} differs first at ${flipPlace(first)}.`));
  }
  const inSteps = worst.some((flip) => flip.sequence !== undefined);
  const columns = [inSteps ? {title: 'step', words: true} : {title: 'iteration', number: true},
    {title: 'sample', number: true},
    {title: 'flip', words: true}, {title: 'reference', words: true}, {title: 'margin', number: true},
    {title: 'candidate', words: true}, {title: 'margin', number: true}, {title: 'difference', words: true}];
  const rows = worst.map((flip) => [flipPlace(flip), count(flip.row), flipWords[flip.flip] || '',
    flip.first || '', marginText(flip.first_margin), flip.second || '', marginText(flip.second_margin),
    flip.detail || '']);
  const shown = worst.map((flip) => (flip.pictures || []).map((at) => flipPictures[at]).filter(isPicture));
  const any = shown.some((pictures) => pictures.length);
  if (any) {
    columns.splice(2, 0, {title: 'input'});
    rows.forEach((row, i) => row.splice(2, 0, pictureCell(worst[i], shown[i])));
  }
  parts.push(make('h3', {}, `Worst flips: ${name}`), plainTable(columns, rows, `Worst flips of ${name}`));
  if (any) parts.push(pictureHint(worst.length, shown));
  return parts;
}

// The images that were fed, as data: nothing is loaded from elsewhere.
const flipPictures = record.flip_pictures || [];
const isPicture = (picture) => Boolean(picture) && /^[A-Za-z0-9+/]+=*$/.test(picture.png || '');

function pictureCell(flip, pictures) {
  if (!pictures.length) return '\u2013';
  return make('span', {class: 'fed'}, ...pictures.map((picture) => make('img', {
    src: 'data:image/png;base64,' + picture.png, title: `${picture.input || ''}: ${picture.how || ''}`,
    alt: `Input ${picture.input || ''} of iteration ${count(flip.iteration)}, sample ${count(flip.row)}`})));
}

// How pixels were made of numbers, once where it is the same of all pictures of an input.
function pictureHint(flips, shown) {
  const ways = new Map();
  for (const {input, how} of shown.flat()) {
    const key = `${input || ''}: ${how || ''}`;
    ways.set(key, (ways.get(key) || 0) + 1);
  }
  const all = shown.flat().length;
  const lines = [...ways].map(([way, n]) => (n === all ? '' : `${some(n, 'picture')} of `) + way);
  const without = shown.filter((pictures) => !pictures.length).length;
  if (without) {
    lines.push(`${count(without)} of ${some(flips, 'flip')} without a picture: no image is known to be its own, ` +
        'or as many as --worst-flips are shown already');
  }
  return make('p', {class: 'hint'}, `Inputs as pictures: ${lines.join('; ')}.`);
}

function marginText(margin) {
  const value = number(margin);
  return Number.isNaN(value) ? '\u2013' : Number.isFinite(value) ? show(value) : '\u221e';
}

// Samples by the reference's margin; the flips among them stand out.
function marginChart(decision, name) {
  const bins = decision.margin_counts.map((n, i) => ({n, flips: (decision.margin_flips || [])[i] || 0}));
  const width = 360, height = 120, left = 8, right = width - 8, bottom = height - 18;
  const x = d3.scaleBand().domain(bins.map((bin, i) => i)).range([left, right]).padding(0.12);
  const y = d3.scalePow().exponent(0.35).domain([0, Math.max(1, ...bins.map((bin) => bin.n))])
      .range([bottom, 6]);
  const most = show(number(decision.margin_most));
  const flips = sum(bins.map((bin) => bin.flips));
  const caption = `Samples by the margin of the reference, from 0 to ${most}; ` +
      `${count(flips)} of ${count(sum(bins.map((bin) => bin.n)))} flip.`;
  const svg = newSvg(width, height, `Margins of ${name}: ${caption}`);
  for (const [kind, of] of [['count', (bin) => bin.n], ['count wild', (bin) => bin.flips]]) {
    svg.append('g').selectAll('rect').data(bins).enter().append('rect').attr('class', kind)
        .attr('x', (bin, i) => x(i)).attr('width', x.bandwidth())
        .attr('y', (bin) => y(of(bin))).attr('height', (bin) => bottom - y(of(bin)));
  }
  svg.append('text').attr('x', left).attr('y', height - 4).text('0');
  svg.append('text').attr('x', right).attr('y', height - 4).attr('text-anchor', 'end').text(most);
  return figureOf(`Margins: ${name}`, svg.node(), caption);
}
