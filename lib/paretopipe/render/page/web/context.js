// Incidents during trials, and what the records show of their causes. Hidden if there were none.

function disturbanceDetails(group) {
  const {summary, trials} = group.disturbances;
  const name = passingGroups().length > 1 ? `${nameOf(group)}: ` : '';
  const rows = trials.map(({split, repetition, happened, causes}) =>
      [split, String(repetition), happened, causes.length > 0 ? causes.join('; ') : 'not known']);
  const content = tableContent(['split', 'repetition', 'what happened', 'why, as far as the records show'], rows);
  return element('details', {}, element('summary', {}, `${name}${summary}`),
                 scrollingTable('Disturbed trials', {class: 'prose'}, ...content));
}

function drawDisturbances() {
  const groups = passingGroups().filter(({disturbances}) => disturbances);
  byId('disturbance-section').hidden = groups.length === 0;
  byId('disturbances').replaceChildren(...groups.map(disturbanceDetails));
}

// The data sheet of the instrument, if the page has one.

function drawCalibration() {
  const sheet = report.calibration;
  byId('calibration-section').hidden = sheet === undefined;
  if (sheet === undefined) return;
  const {verdict, kept, doubts, preamble, remarks, summary, cells} = sheet;
  const table = (label, {headings, left_columns, rows}) => scrollingTable(label, {}, ...tableContent(headings, rows, left_columns));
  const paragraphs = (sentences, kind) => sentences.map(sentence => element('p', {class: kind}, sentence));
  byId('calibration').replaceChildren(
      ...paragraphs([verdict], kept ? 'verdict' : 'verdict missed'), ...paragraphs(doubts, 'warning'),
      ...paragraphs([...preamble, ...remarks], 'note'), table('Errors over all cells', summary),
      element('details', {}, element('summary', {}, 'Error of every cell'), table('Error of every cell', cells)));
}

// What the numbers were measured on and by: networks, machines, provenance.

function drawNetworks() {
  const headings = ['network', 'asked for', 'measured round trip', 'measured rate forward', 'measured rate back',
                    'before the trials'];
  const seen = (value, unit) => value === undefined ? '–' : formatValue(value, unit);
  const size = group => `batch ${group.batch}` + (isCut(group) ? `, micro-batch ${group.micro_batch}` : '');
  const rows = passingGroups().map(({model, network, conditions, evidence, ...group}) => [
    `${brief(network)}, ${brief(model)}, ${size(group)}`, conditions, seen(evidence.round_trip_ns, 'ns'),
    seen(evidence.forward_bit_per_s, 'bit/s'), seen(evidence.backward_bit_per_s, 'bit/s'),
    evidence.probed_before_ns === undefined ? '–' : formatRange(evidence.probed_before_ns, ns => formatValue(ns, 'ns')),
  ]);
  byId('networks').replaceChildren(...tableContent(headings, rows));
}

function formatRange([low, high], write) {
  return low === high ? write(low) : `${write(low)} to ${write(high)}`;
}

function stageSection(place) {
  const ranges = [
    ['load_average_1min', threeDigits], ['available_memory_bytes', value => formatValue(value, 'B')],
    ['cpu_frequency_hz', value => `${threeDigits(value / 1e9)} GHz`],
  ].filter(([name]) => place[name].length > 0).map(([name, write]) => [name, formatRange(place[name], write)]);
  const settings = [...place.machine, {name: 'cpus of the stage', value: place.cpus}, ...place.compute];
  const pairs = settings.filter(({value}) => value !== '').map(({name, value}) => [name, value]);
  const cpu = place.machine.find(({name}) => name === 'cpu_model')?.value ?? '';
  return element('details', {},
                 element('summary', {}, `Stage ${place.stage}: ${cpu}, CPUs ${place.cpus} (${place.trials} ${place.trials === 1 ? 'trial' : 'trials'})`),
                 element('dl', {}, ...definitions([...ranges, ...pairs])));
}

function drawContext() {
  byId('stages').replaceChildren(...report.stages.map(stageSection));
  const {versions, commands, first, last, trials, ok, failed, invalid, profiles} = report.provenance;
  const pairs = [
    ...(profiles ?? []).map(profile => ['Predicted from the profile of', profile]),
    ...(report.predicted ? [] : [['Trials', `${trials}: ${ok} ok, ${failed} failed, ${invalid} invalid`]]),
    ...(first ? [['Measured', first === last ? first : `${first} to ${last}`]] : []),
    ...versions.map(version => ['By paretopipe', version]),
    ...commands.map(command => ['Command', element('code', {}, command)]),
  ];
  byId('provenance').replaceChildren(...definitions(pairs));
}
