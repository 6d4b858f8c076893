import type { ReactNode } from "react";
import { Steps } from "@/components/ui/timeline";

interface ReviewLayoutProps {
  readonly receipt: ReactNode;
  readonly approve: ReactNode;
  /** Name of the part that approves. */
  readonly label?: string;
}

/**
 * The receipt with the approval beside it. On phones the approval is below the receipt and stays in
 * view.
 */
export const ReviewLayout = ({
  receipt,
  approve,
  label = "Approve",
}: ReviewLayoutProps): ReactNode => (
  <div className="grid grid-cols-1 items-start gap-x-6 gap-y-4 md:grid-cols-[minmax(0,1fr)_19rem]">
    <div className="flex min-w-0 flex-col gap-4">{receipt}</div>
    <section
      aria-label={label}
      className="sticky -bottom-4 z-10 -mx-4 -mb-4 flex min-w-0 flex-col gap-3 border-t bg-surface px-4 py-3 md:top-0 md:bottom-auto md:mx-0 md:mb-0 md:rounded-card md:border md:p-4"
    >
      {approve}
    </section>
  </div>
);

/** Says for which receipt the approval is valid. Small screens leave the note out. */
export const ReviewNote = ({ children }: { readonly children: ReactNode }): ReactNode => (
  <p className="rounded-control bg-sunken px-3 py-2 text-sm text-fg-2 max-md:hidden">
    {children}
  </p>
);

interface ReviewStepsProps {
  /** For the accessible name: `swap` → "Steps of the swap". */
  readonly noun: string;
  readonly at: "review" | "approve" | "sign";
  /** Whether the person's wallets have to sign. */
  readonly signs?: boolean;
}

/** The steps from a review to its execution. Every dialog that asks for an approval shows them. */
export const ReviewSteps = ({ noun, at, signs = false }: ReviewStepsProps): ReactNode => (
  <Steps
    label={`Steps of the ${noun}`}
    steps={["Review", "Approve", ...(signs ? ["Sign"] : []), "Done"]}
    current={["review", "approve", "sign"].indexOf(at)}
  />
);
