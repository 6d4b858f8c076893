import { useId, type ReactNode } from "react";

interface SectionProps {
  readonly title: string;
  readonly hint?: string;
  readonly children: ReactNode;
}

/** A part of the editor: its heading and hint, then its fields. */
export const Section = ({ title, hint, children }: SectionProps): ReactNode => {
  const id = useId();
  return (
    <section aria-labelledby={id} className="flex flex-col gap-3 px-4 py-4">
      <div>
        <h3 id={id} className="font-semibold">
          {title}
        </h3>
        {hint === undefined ? null : <p className="text-sm text-fg-3">{hint}</p>}
      </div>
      {children}
    </section>
  );
};
