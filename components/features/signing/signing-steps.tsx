"use client";

import dynamic from "next/dynamic";
import { useEffect, useRef, type ReactNode } from "react";
import { useChain } from "@/components/providers/public-config";
import { NamedAddress } from "@/components/features/names/names";
import { TxHash } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { ChainName } from "@/components/ui/marks";
import { CodeBlock } from "@/components/ui/code-block";
import {
  Timeline,
  type StepState as TimelineState,
  type TimelineStep,
} from "@/components/ui/timeline";
import {
  type Action,
  isApproval,
  isSignature,
  type SigningStep,
  standingOf,
} from "./signing-model";
import type { Signing } from "./use-signing";

const AccountChooser = dynamic(
  () => import("./account-chooser").then((module) => module.AccountChooser),
  {
    ssr: false,
  },
);

const TIMELINE_STATES = {
  todo: "todo",
  needs_account: "attention",
  asking: "current",
  mining: "current",
  done: "done",
  rejected: "failed",
  failed: "failed",
} as const satisfies Record<SigningStep["at"]["state"], TimelineState>;

const wordOf = ({ action, at, kept }: SigningStep): string => {
  switch (at.state) {
    case "todo":
      if (isSignature(action)) return "Signature";
      return isApproval(action) ? "Approval" : "Transaction";
    case "needs_account":
      return "Waits for the account";
    case "asking":
      return "Look at your wallet";
    case "mining":
      return "Sent, waits for the chain";
    case "done":
      if (kept) return "Approved before";
      return isSignature(action) ? "Signed" : "Sent";
    case "rejected":
      return "Rejected";
    case "failed":
      return "Did not work";
  }
};

const hashOf = ({ at }: SigningStep): string | undefined =>
  at.state === "done"
    ? at.signed.txHash
    : at.state === "mining" || at.state === "failed"
      ? at.txHash
      : undefined;

/** The exact data that the wallet receives, so that people can compare it. */
const contentText = ({ transaction, typedData }: Action): string =>
  JSON.stringify(transaction ?? typedData, null, 2);

const StepDetail = ({ step }: { readonly step: SigningStep }): ReactNode => {
  const { action } = step;
  const explorerUrl = useChain(action.chainId)?.explorerUrl;
  const hash = hashOf(step);
  return (
    <div className="flex flex-col gap-1">
      <span className="flex flex-wrap items-center gap-x-1.5">
        <span className={step.at.state === "todo" ? undefined : "font-medium text-fg"}>
          {wordOf(step)}
        </span>
        <span>
          · by <NamedAddress value={action.signerAddress} />
        </span>
        <span>
          on <ChainName chainId={action.chainId} />
        </span>
      </span>
      {hash === undefined ? null : (
        <span>
          <TxHash
            value={hash}
            href={explorerUrl == null ? null : `${explorerUrl}/tx/${hash}`}
          />
        </span>
      )}
      <details>
        <summary className="link min-h-6 cursor-pointer touch-target">
          What is {isSignature(action) ? "signed" : "sent"}
        </summary>
        <CodeBlock
          code={contentText(action)}
          label={isSignature(action) ? "typed data" : "transaction"}
          wrap
        />
      </details>
    </div>
  );
};

const toTimeline = (step: SigningStep, index: number): TimelineStep => ({
  id: `${String(index)}-${step.action.id}`,
  title: <span className="wrap-anywhere">{step.action.description}</span>,
  state: TIMELINE_STATES[step.at.state],
  detail: <StepDetail step={step} />,
});

interface SigningStepsProps {
  readonly signing: Signing;
  /** Continues with the stopped step, once its account is connected. */
  readonly onGoOn: () => void;
}

export const SigningSteps = ({ signing, onGoOn }: SigningStepsProps): ReactNode => {
  const { steps, busy } = signing;
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    // The receipt above is long, so the page scrolls to the step that the wallet is asked to sign.
    if (busy && section.current !== null) scrollTo(section.current);
  }, [busy]);
  if (steps.length === 0) return null;
  const done = steps.filter((step) => step.at.state === "done").length;
  return (
    <section
      ref={section}
      aria-labelledby="signing-steps"
      className="flex flex-col gap-3 rounded-card border p-4"
    >
      <div className="flex flex-wrap items-baseline justify-between gap-x-4">
        <h3 id="signing-steps" className="font-semibold">
          Your wallets sign
        </h3>
        <span className="num text-sm text-fg-2" role="status">
          {done} of {steps.length} done
        </span>
      </div>
      <Timeline label="What the wallets sign" steps={steps.map(toTimeline)} />
      <Stopped signing={signing} onGoOn={onGoOn} />
    </section>
  );
};

const GAP_PX = 16;

/**
 * Scrolls only the nearest scrolling parent, because `scrollIntoView` would also move the dialog
 * and the page behind it.
 */
const scrollTo = (node: HTMLElement): void => {
  let parent = node.parentElement;
  while (parent !== null && !["auto", "scroll"].includes(getComputedStyle(parent).overflowY))
    parent = parent.parentElement;
  parent?.scrollBy({
    top: node.getBoundingClientRect().top - parent.getBoundingClientRect().top - GAP_PX,
  });
};

const show = (node: HTMLElement | null): void => node?.scrollIntoView({ block: "nearest" });

const Stopped = ({ signing, onGoOn }: SigningStepsProps): ReactNode => {
  const standing = standingOf(signing.steps);
  const waiting = signing.steps.find((step) => step.at.state === "needs_account");
  if (standing === null) return null;
  return (
    <div ref={show} className="scroll-mb-8">
      <Alert tone="warning" title={standing.title}>
        <p>{standing.money}</p>
        {waiting === undefined ? null : (
          <div className="flex flex-col gap-2 pt-1">
            <p>
              Choose this account in the wallet that has it:{" "}
              <code className="font-mono text-sm break-all">
                {waiting.action.signerAddress}
              </code>
            </p>
            <AccountChooser wanted={waiting.action.signerAddress} onAccounts={onGoOn} />
          </div>
        )}
      </Alert>
    </div>
  );
};
