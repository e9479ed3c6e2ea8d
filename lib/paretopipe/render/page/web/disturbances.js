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
