/** Terminal colours and cursor moves (ECMA-48 CSI and OSC sequences) taken out of a log line. */
// The escape character is what this is about.
// oxlint-disable-next-line no-control-regex
const SEQUENCES = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[@-Z\\-_])/g;

export function withoutAnsi(text: string): string {
  return text.replace(SEQUENCES, '');
}
