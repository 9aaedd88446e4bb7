/**
 * A name as people read it: the text that an imported name was made of, where its page knows one (`NameTexts`), else the
 * name itself, which a narrow table may break after underscores only.
 */
import { createContext, Fragment, useContext, type ReactNode } from 'react';

const Texts = createContext<Readonly<Record<string, string>>>({});

/** Gives a page the texts that its names with a digest were made of, as the server tells them. */
export function NameTexts({
  texts,
  children,
}: {
  texts: Readonly<Record<string, string>>;
  children: ReactNode;
}) {
  return <Texts value={texts}>{children}</Texts>;
}

/** Turns a name into its text, for where a plain string is needed. */
export function useNameText(): (name: string) => string {
  const texts = useContext(Texts);
  return (name) => texts[name] ?? name;
}

export function Identifier({ name }: { name: string }) {
  const text = useContext(Texts)[name];
  if (text !== undefined) return <span title={name}>{text}</span>;
  const [first, ...rest] = name.split('_');
  return (
    <>
      {first}
      {rest.map((part, index) => (
        // The parts of one name neither move nor change.
        // oxlint-disable-next-line no-array-index-key
        <Fragment key={index}>
          _<wbr />
          {part}
        </Fragment>
      ))}
    </>
  );
}
