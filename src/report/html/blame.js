// What is to blame, in the order of the ranking.

function blameSection() {
  const blame = record.blame;
  if (!blame) return null;
  const culprits = blame.culprits || [];
  const section = make('section', {id: 'blame', 'aria-labelledby': 'blame-title'},
      make('h2', {id: 'blame-title'}, culprits.length ? 'To blame'
          : blame.within_bounds ? 'No layer exceeds its error bound' : 'Nothing is to blame'));
  if (blame.within_bounds) section.append(make('p', {}, blame.within_bounds));
  if (texts.at_step) section.append(make('p', {}, texts.at_step + '.'));
  if (texts.on_flips) section.append(make('p', {}, texts.on_flips + '.'));
  section.append(make('p', {class: 'hint'}, `${blame.candidate} against ${blame.reference}; errors ` +
      'are multiples of the error bound. The own error is that of a node on the reference\u2019s tensors; ' +
      'the total error includes what it inherited.'));
  if (culprits.length) section.append(culpritTable(culprits));
  if (blame.on_flips && blame.on_flips.margins) section.append(...usedUpParts(blame.on_flips));
  if (blame.first_nonfinite) section.append(...nonFiniteParts(blame.first_nonfinite));
  if (blame.disturbance) section.append(...disturbanceParts(blame.disturbance));
  if (blame.fused_away) {
    section.append(make('details', {},
        make('summary', {}, `The candidate fuses ${some(blame.fused_away.length, 'tensor')} away`),
        make('p', {class: 'hint'}, 'It makes them only when they are asked for. Their errors are of ' +
            'a session of their own; the errors of all others were measured with the fusions in place.'),
        make('p', {class: 'name'}, blame.fused_away.join(', '))));
  }
  if (blame.unexposed) {
    section.append(make('details', {},
        make('summary', {}, `${some(blame.unexposed.length, 'tensor')} could not be examined`),
        plainTable([{title: 'tensor', words: true}, {title: 'why', words: true}],
            blame.unexposed.map((t) => [t.name || '', t.why || '']), 'Tensors not looked at')));
  }
  return section;
}

function culpritTable(culprits) {
  const columns = [{title: 'node', words: true}, {title: 'operator'},
    {title: 'own error', number: true}, {title: 'total error', number: true},
    {title: 'why', words: true}];
  const pair = pairs.findIndex((p) => p.by_layer);
  const rows = culprits.map((c) => {
    const index = outputsOf(pair).findIndex((output) => (c.outputs || []).includes(output.name));
    const name = index < 0 ? c.node : make('button', {type: 'button', class: 'link',
      onclick: () => showOutput(pair, index)}, ...breakable(c.node || ''));
    return [name, c.op_type || '', c.own_error === undefined ? '\u2013' : show(c.own_error),
      show(number(c.total_error)), c.why || ''];
  });
  return plainTable(columns, rows, 'What is to blame, the worst first');
}

function usedUpParts(flips) {
  const of = flips.margin_of || {};
  const columns = [{title: 'layer', words: true}, {title: 'operator'},
    {title: 'margin left', number: true}, {title: '% used up', number: true}];
  const rows = flips.margins.map((layer) => [layer.node || '', layer.op_type || '',
    show(number(layer.margin || 0)), show(100 * number(layer.eaten || 0))]);
  return [make('h3', {}, 'Margins used up'),
    make('p', {}, `${of.kind} of '${of.output}' has the margin ${show(number(of.margin))} in iteration ` +
        `${of.iteration || 0}, sample ${of.row || 0}. What is left of it if the candidate computes one ` +
        'layer alone and the reference all others; below 0 it is another answer:'),
    plainTable(columns, rows, 'What single layers cost of a margin')];
}

function nonFiniteParts(found) {
  const rows = (found.operands || []).map((o) => [o.name || '', show(number(o.min)), show(number(o.max)),
    count(o.nan_count || 0), count(o.infinite_count || 0)]);
  const columns = [{title: 'operand', words: true}, {title: 'smallest', number: true},
    {title: 'largest', number: true}, {title: 'NaN', number: true}, {title: 'infinite', number: true}];
  return [make('h3', {}, 'First NaN or infinity'),
    make('p', {}, `${found.node} (${found.op_type || ''}) makes ${count(found.nan_count || 0)} NaN and ` +
        `${count(found.infinite_count || 0)} infinite values in ${found.output || ''}, first at ` +
        `${place(found.first)}, on the side of the ${found.side || ''}, from finite operands:`),
    plainTable(columns, rows, 'Operands')];
}

function disturbanceParts(disturbance) {
  if (!disturbance.changed && !disturbance.finding) return [];
  const parts = [make('h3', {}, disturbance.changed ? 'Looking changed the result' : 'Whether looking changed the result'),
    make('p', {}, disturbance.finding || 'The outputs with probes are not those without.')];
  if (disturbance.region) parts.push(make('p', {class: 'name'}, disturbance.region.join(', ')));
  return parts;
}
