import { Eye } from "lucide-react";
import type { ReactNode } from "react";
import { setText } from "./observer/scenes";

interface HonestyProps {
  readonly engine: string;
  /** Null where it is not known now, or several pools are meant. */
  readonly setSize?: number | null;
  readonly staysPublic: readonly string[];
}

/** Names the proof system, the number of deposits among which a withdrawal hides, and the facts that stay public. */
export const Honesty = ({ engine, setSize, staysPublic }: HonestyProps): ReactNode => (
  <section aria-label="What stays public" className="flex flex-col gap-1.5 text-sm text-fg-2">
    <p>
      Proofs by {engine}
      {setSize === undefined ? null : setSize === null ? (
        <span title="The chain or the provider does not answer now."> among –</span>
      ) : (
        <>
          {" "}
          among <strong className="font-medium text-fg">{setText(setSize)}</strong> now
        </>
      )}
      .
    </p>
    <p className="flex items-center gap-1.5 font-medium text-fg">
      <Eye className="size-4 text-fg-3" aria-hidden /> What stays public
    </p>
    <ul className="list-disc pl-5">
      {staysPublic.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  </section>
);
