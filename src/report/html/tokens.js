// The tokens of the chosen pair: how many agree at each step, where prompts diverge, and what the logits
// say of their distributions.

const shownDivergences = 12;

function tokensSection() {
  if (!pairs.some((pair) => pair.decode || logitsOf(pair).length)) return null;
  const content = make('div', {});
  const section = make('section', {id: 'tokens', 'aria-labelledby': 'tokens-title'},
      make('h2', {id: 'tokens-title'}, 'Tokens'), content);
  state.listeners.push((what) => what === 'pair' && draw());

  function draw() {
    const pair = pairs[state.pair];
    const parts = [...decodeParts(pair), ...logitsParts(pair)];
    content.replaceChildren(...(parts.length ? parts
        : [make('p', {class: 'hint'}, 'This pair has neither tokens nor logits.')]));
  }

  draw();
  return section;
}

function logitsOf(pair) {
  return (pair.outputs || []).filter((output) => output.logits || (output.tokens || {}).tokens);
}

function decodeParts(pair) {
  const decode = pair.decode;
  if (!decode) return [];
  const parts = [];
  if (hasCharts && (decode.agreement || []).length) {
    const caption = agreementCaption(decode);
    parts.push(make('figure', {}, drawAgreement(decode, caption), make('figcaption', {}, caption)));
  }
  const all = decode.divergences || [];
  if (!all.length) return parts;
  parts.push(make('h3', {}, decode.forced ? 'Tokens that differ' : 'Where prompts diverge'),
      divergenceTable(pair, all.slice(0, shownDivergences)));
  if (all.length > shownDivergences) {
    parts.push(make('details', {}, make('summary', {}, `${count(all.length - shownDivergences)} more`),
        divergenceTable(pair, all.slice(shownDivergences))));
  }
  const found = decode.near_ties + decode.beyond_tolerance + decode.not_judged;
  if (found > all.length) {
    parts.push(make('p', {class: 'hint'}, `The record keeps the first ${count(all.length)} of ${count(found)}.`));
  }
  return parts;
}

function divergenceTable(pair, divergences) {
  const token = (number) => number < 0 ? 'none (NaN)' : String(number);
  const columns = [{title: 'sequence', number: true}, {title: 'prompt', number: true}, {title: 'step', number: true},
    {title: pair.first, number: true}, {title: 'margin', number: true},
    {title: pair.second, number: true}, {title: 'margin', number: true}, {title: 'logits', words: true}];
  const rows = divergences.map((d) => [count(d.sequence), count(d.prompt), count(d.step), token(d.first_token),
    marginText(d.first_margin), token(d.second_token), marginText(d.second_margin), d.kind || '']);
  return plainTable(columns, rows, `Tokens that differ between ${pair.first} and ${pair.second}`);
}

function agreementCaption(decode) {
  const parts = [`Share of equal tokens at each step, ${some(decode.prompts, 'prompt')}: ` +
      `${count(decode.agreeing_tokens)} of ${some(decode.tokens, 'token')} agree`];
  if (decode.forced) parts.push('both sides are fed with the same tokens');
  if (decode.steps_per_point > 1) parts.push(`a point is of ${count(decode.steps_per_point)} steps`);
  const all = decode.divergences || [];
  if (all.length) parts.push(`marks below: ${decode.forced ? 'tokens that differ' : 'where prompts diverge'}`);
  const prompts = decode.diverged_prompts
      ? `${some(decode.diverged_prompts, 'prompt')} diverge${decode.diverged_prompts === 1 ? 's' : ''}, after a median ` +
        `of ${show(decode.tokens_until_divergence_median)} equal tokens over all prompts` : 'no prompt diverges';
  return parts.join('; ') + `; ${prompts}.`;
}

function drawAgreement(decode, caption) {
  const width = 760, height = 200, left = 48, right = width - 8, top = 12, bottom = height - 44;
  const points = decode.agreement.map((p) => ({...p, value: p.agreeing_tokens / p.tokens}));
  const divergences = decode.divergences || [];
  const last = Math.max(1, points[points.length - 1].step, ...divergences.map((d) => d.step));
  const x = d3.scaleLinear().domain([0, last]).range([left + 8, right]);
  const y = d3.scaleLinear().domain([0, 1]).range([bottom, top]);
  const svg = newSvg(width, height, caption);
  drawTicks(svg, [0, 0.25, 0.5, 0.75, 1].map((share) => ({at: y(share), text: `${100 * share}\u00a0%`})), left, right);
  drawStepAxis(svg, x, bottom + 10, height);
  drawCurve(svg, points, decode.steps_per_point, x, y);
  svg.append('g').selectAll('line').data(divergences).enter().append('line')
      .attr('class', (d) => d.kind === 'beyond tolerance' ? 'parted wrong' : 'parted')
      .attr('x1', (d) => x(d.step)).attr('x2', (d) => x(d.step)).attr('y1', bottom + 2).attr('y2', bottom + 10);
  const node = svg.node();
  const behind = d3.bisector((p) => p.step).center;
  node.addEventListener('pointermove', (event) => {
    const box = node.getBoundingClientRect();
    const step = x.invert((event.clientX - box.left) / box.width * node.viewBox.baseVal.width);
    const point = points[behind(points, step)];
    showTip(event, `step ${count(point.step)}: ${count(point.agreeing_tokens)} of ` +
        `${some(point.tokens, 'token')} agree`);
  });
  node.addEventListener('pointerleave', hideTip);
  return node;
}

// Numbers of --compare logits, and of the tokens that were fed.
function logitsParts(pair) {
  const outputs = logitsOf(pair);
  if (!outputs.length) return [];
  const at = (position) => (position || []).length ? ` at ${place(position)}` : '';
  const fields = [
    ['positions', (l) => count(l.compared_positions)],
    ['positions with NaN, +inf, \u2212inf on one side', (l) => (l.nan_positions || l.infinite_positions ||
        l.torn_positions) && [l.nan_positions, l.infinite_positions, l.torn_positions].map(count).join(', ')],
    ['mean KL divergence', (l) => `${show(l.kl_mean)}, the threshold is ${show(l.kl_threshold)}`],
    ['KL divergence: 99 %, largest', (l) => `${show(l.kl_p99)}, ${show(l.kl_max)}${at(l.kl_max_position)}`],
    ['top-1 equal', (l) => `${percent(l.top1_share)}, with close flips ${percent(l.top1_judged)}, the threshold is ` +
        percent(l.top1_threshold)],
    ['flips of the top-1', (l) => `${count(l.flips)}, close: ${count(l.close_flips)}`],
    ['largest margin of a flip', (l) => l.flips && marginText(l.flip_margin_max) + at(l.flip_max_position)],
  ].map(([title, of]) => [title, (output) => output.logits && of(output.logits)]);
  fields.push(...[
    [`perplexity of ${pair.first}, ${pair.second}`,
      (t) => `${show(t.first_perplexity, 6)}, ${show(t.second_perplexity, 6)}, over ` +
          `${some(t.tokens, 'token')} of ${t.source}`],
    ['ratio of perplexities', (t) => `${show(t.perplexity_ratio, 6)} \u00b1 ${marginText(t.ratio_standard_error)}`],
  ].map(([title, of]) => [title, (output) => (output.tokens || {}).tokens && of(output.tokens)]));
  const rows = fields.map(([title, of]) => [title, ...outputs.map((output) => of(output) || '\u2013')])
      .filter((row) => row.slice(1).some((cell) => cell !== '\u2013'));
  const columns = [{title: ''}, ...outputs.map((output) => ({title: output.name, words: true}))];
  const parts = [make('h3', {}, 'Logits'), plainTable(columns, rows, `Logits of ${pair.title}`)];
  if (outputs.some((output) => output.logits && (output.compared_iterations || 0) > 1)) {
    parts.push(make('p', {class: 'hint'}, 'Of the worst iteration; perplexities are of all.'));
  }
  return parts;
}
