/**
 * Shows a name: the text that an imported name was made of if the page has it (`NameTexts`), else the
 * name itself, which a narrow table may break after underscores only.
 */
import { createContext, Fragment, useContext, type ReactNode } from 'react';

const Texts = createContext<Readonly<Record<string, string>>>({});

/** Gives a page the server's texts for names that end in a digest. */
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
        // The parts of a name never change their place.
        // oxlint-disable-next-line no-array-index-key
        <Fragment key={index}>
          _<wbr />
          {part}
        </Fragment>
      ))}
    </>
  );
}
