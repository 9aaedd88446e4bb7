import { ALERT_KINDS, ALERT_STATE_MEANING, ALERT_STATES } from './state-badges';

/** The text of every file of the screens, by path. */
const SOURCES = import.meta.glob<string>('../{features,ui}/**/*.{ts,tsx}', {
  eager: true,
  import: 'default',
  query: '?raw',
});

describe('the words of the screens', () => {
  it('call every state of an alert by the name that API, command line and documents use', () => {
    expect(
      Object.entries(ALERT_STATES).filter(
        ([state, { word }]) => word !== state,
      ),
    ).toEqual([]);
  });

  it('explain a fixed alert for every kind of alert, not only for arms', () => {
    expect(Object.keys(ALERT_KINDS)).toContain('history');
    expect(ALERT_STATE_MEANING.fixed).not.toMatch(/\barm\b/);
  });

  it('never say result: the glossary has samples and verdicts', () => {
    const spoken = Object.entries(SOURCES)
      .filter(([path]) => !path.includes('.test.'))
      .flatMap(([path, text]) =>
        text.split('\n').map((line) => [path, line.trim()] as const),
      )
      .filter(([, line]) => !/^(\/\*\*|\*|\/\/|import )/.test(line));
    expect(spoken.length).toBeGreaterThan(1000);
    expect(spoken.filter(([, line]) => /\bresults?\b/i.test(line))).toEqual([]);
  });
});
