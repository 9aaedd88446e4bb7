/** Removes terminal escapes and invisible characters from the output of programs. */
// This file has to match control characters.
/* oxlint-disable no-control-regex */
/** Colours and cursor moves (ECMA-48 CSI), titles and links (OSC and similar), two-character sequences. */
const SEQUENCES =
  /\u001B(?:\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[ -/]*[0-~]?)/g;
/** Control characters other than newline and tab. */
const CONTROLS = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g;
/* oxlint-enable no-control-regex */

export function withoutAnsi(text: string): string {
  return text
    .replace(SEQUENCES, '')
    .replaceAll('\r\n', '\n')
    .replaceAll('\r', '\n')
    .replace(CONTROLS, '');
}
