"use client";

import { ArrowLeft } from "lucide-react";
import Link from "next/link";
import { type ReactNode, useState } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { ACT_LOOKS } from "@/components/features/approvals/factor-approvals";
import { ProofPart } from "@/components/features/approvals/proof-part";
import { signaturesOf } from "@/components/features/signing/signing-model";
import { SigningSteps } from "@/components/features/signing/signing-steps";
import { useWallets } from "@/components/features/wallets/use-wallets";
import { WarningAlerts } from "@/components/features/warnings/warnings";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Fact, Facts } from "@/components/ui/card";
import { Countdown, useNow } from "@/components/ui/time";
import { Dialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/states";
import { executeSwap, prepareSwap } from "@/lib/api-client/calls.gen";
import type { Callable } from "@/lib/contracts/contract";
import { isSameText } from "@/lib/core/same-text";
import { codeOf, extraOf } from "./api-error";
import { BalanceChanges } from "./balance-changes";
import type { Flow } from "./move-flow";
import { NetworkFee } from "./quote-shell";
import { PriceChange } from "./price-notices";
import { votesText } from "@/components/features/policies/rule-words";
import { AvailableAfter } from "./receipt-parts";
import { type BrokenPromise, brokenPromises } from "./receipt-promise";
import { ReviewLayout, ReviewNote, ReviewSteps } from "./review-layout";
import type { Prepared } from "./types";
import type { MoveFlow } from "./use-move-flow";

export interface MoveDialogProps {
  readonly flow: MoveFlow;
  /** Closes the dialog and asks for a new quote of the form's values. */
  readonly onNewQuote: () => void;
  /** Called after the person accepted a moved price. The quote of the form is then out of date. */
  readonly onMoved?: () => void;
}

interface FlowProps {
  readonly move: MoveFlow;
  readonly flow: Flow;
}

const FlowSnippet = ({ move, flow }: FlowProps): ReactNode => {
  const { ids } = flow.subject;
  const signatures = move.signing.steps
    .filter((step) => !step.kept)
    .map(({ action }) => ({
      actionId: action.id,
      ...(action.kind === "transaction" ? { txHash: "0x…" } : { signature: "0x…" }),
    }));
  const snippet = (call: Callable, more: object = {}): ReactNode => (
    <ApiSnippet key={call.path} call={call} body={{ ...ids, ...more }} />
  );
  if (flow.step !== "review")
    return snippet(executeSwap, signatures.length === 0 ? {} : { signatures });
  return snippet(prepareSwap, flow.approved ? {} : { otp: "123456" });
};

const STEP_AT = { review: "approve", check: "approve", sign: "sign" } as const;

/** Whether wallets of the person must sign. The steps show this even before the preparation. */
const useSigns = ({ subject, prepared }: Flow): boolean => {
  const wallets = useWallets().data?.data ?? [];
  if (prepared !== null) return prepared.actions.length > 0;
  return subject.from.some((source) =>
    wallets.some(
      ({ address, signer }) => signer === "owner" && isSameText(address, source.address),
    ),
  );
};

export const MovePanel = (props: MoveDialogProps): ReactNode => {
  const { flow } = props.flow;
  if (flow === null) return null;
  const key = Object.values(flow.subject.ids).join(" ");
  return <OneFlow key={key} {...props} move={props.flow} flow={flow} />;
};

type OneFlowProps = Omit<MoveDialogProps, "flow"> & FlowProps;

const OneFlow = (props: OneFlowProps): ReactNode => {
  const { move, flow } = props;
  const { noun } = flow.subject;
  const signs = useSigns(flow);
  const isBegun = flow.approved || move.preparing;
  return (
    <Dialog
      open={move.open}
      onClose={() => move.close()}
      title={`Review the ${noun}`}
      description={
        <ReviewSteps noun={noun} at={isBegun ? STEP_AT[flow.step] : "review"} signs={signs} />
      }
      size="xl"
    >
      <ReviewLayout
        receipt={
          <>
            <FlowReceipt move={move} flow={flow} />
            <FlowSnippet move={move} flow={flow} />
          </>
        }
        approve={
          <>
            <ApproveHead {...props} />
            <ApproveStep {...props} />
            <FlowErrors {...props} />
          </>
        }
      />
    </Dialog>
  );
};

/** The remaining time, and the button that leads back. */
const ApproveHead = ({ move, flow }: FlowProps): ReactNode => {
  const { expiresAt } = flow.subject;
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-3">
      {flow.step !== "review" || expiresAt === null ? (
        <span />
      ) : (
        <Countdown until={expiresAt} label="Expires in" className="text-sm text-fg-2" />
      )}
      <Button
        variant="ghost"
        size="sm"
        disabled={move.preparing || move.executing}
        onClick={move.back}
      >
        <ArrowLeft aria-hidden /> {flow.step === "review" ? "Edit" : "Back"}
      </Button>
    </div>
  );
};

/** The receipt that the person approves. After the preparation, it has the executed amounts. */
const FlowReceipt = ({ move, flow: { subject, prepared, step } }: FlowProps): ReactNode => {
  const shown = step === "review" ? null : prepared;
  const payers = shown?.networkFees.map(({ paidBy }) => paidBy) ?? subject.networkFees;
  return (
    <div className="flex flex-col gap-2">
      <WarningAlerts warnings={shown?.warnings ?? subject.warnings} />
      {subject.receipt(shown?.to ?? subject.to)}
      <Facts className="border-t">
        <Fact label="Network fee">
          <NetworkFee paidBy={payers} />
        </Fact>
        <AvailableAfter from={subject.from} />
        {subject.votes === null ? null : (
          <Fact label="Approvals">{votesText(subject.votes)}</Fact>
        )}
      </Facts>
      {shown === null ? null : (
        <>
          <BalanceChanges changes={shown.simulation.balanceChanges} />
          <SigningSteps signing={move.signing} onGoOn={() => void move.execute()} />
        </>
      )}
    </div>
  );
};

const ApproveStep = (props: OneFlowProps): ReactNode => {
  const { move, flow, onMoved } = props;
  const { subject, moved, prepared } = flow;
  if (moved !== null)
    return (
      <PriceChange
        seen={subject.to}
        fresh={moved.to}
        onAccept={() => {
          move.acceptMoved();
          onMoved?.();
        }}
        title="The price moved below what you approved. Nothing was sent."
        acceptLabel="Accept, and approve again"
      />
    );
  if (flow.step !== "review" && prepared !== null)
    return (
      <>
        {flow.step === "check" ? <CheckNotice flow={{ ...flow, prepared }} /> : null}
        <LockedActions
          key={prepared.expiresAt}
          move={move}
          flow={flow}
          expiresAt={prepared.expiresAt}
        />
      </>
    );
  return flow.approved ? <ApprovedStep move={move} flow={flow} /> : <FlowProof {...props} />;
};

const ApprovedStep = ({ move, flow }: FlowProps): ReactNode => (
  <>
    <Alert tone="success" title="This is approved.">
      Going on needs no further proof.
    </Alert>
    <Button
      variant="primary"
      className={ACT_LOOKS}
      loading={move.preparing || move.executing}
      onClick={() => void move.approve(null)}
    >
      {flow.subject.act}
    </Button>
  </>
);

const FlowProof = ({ move, flow: { subject }, onNewQuote }: OneFlowProps): ReactNode => {
  const { noun, ids, act } = subject;
  const busy = move.preparing || move.executing;
  const isOver = useIsOver(subject.expiresAt);
  if (isOver && !busy)
    return (
      <>
        <p>The price of this {noun} has expired. Nothing was sent.</p>
        <NewQuoteButton noun={noun} onNewQuote={onNewQuote} />
      </>
    );
  return (
    <>
      <ProofPart
        act={act}
        subject={ids}
        busy={busy}
        money="Nothing was sent."
        onApprove={move.approve}
      />
      <ReviewNote>
        {subject.votes === null
          ? `Approving ${noun === "transfer" ? "pays" : "sends"} exactly this receipt. Editing it asks again.`
          : "Others approve exactly this receipt. Nothing is sent before."}
      </ReviewNote>
    </>
  );
};

const TICK_MS = 1000;

/** Whether `expiresAt` has passed. A review that opens after this time mails no code. */
const useIsOver = (expiresAt: string | null): boolean => {
  const now = useNow(TICK_MS);
  const [openedAt] = useState(() => Date.now());
  return expiresAt !== null && Date.parse(expiresAt) <= (now ?? openedAt);
};

const BROKEN_WORDS = {
  minimum: "Less must arrive than before.",
  recipient: "The recipient is another one.",
  networkFee: "Your wallet pays the network fee.",
  source: "More leaves your wallets than before.",
  warning: "There is a new warning.",
} as const satisfies Record<BrokenPromise, string>;

/** Says which facts of the approved receipt are worse now. */
const CheckNotice = ({
  flow: { subject, prepared },
}: {
  readonly flow: Flow & { readonly prepared: Prepared };
}): ReactNode => {
  const broken = brokenPromises(subject, prepared);
  return broken.length === 0 ? null : (
    <Alert tone="warning" title="Something changed since you approved. Nothing was sent.">
      <ul>
        {broken.map((fact) => (
          <li key={fact}>{BROKEN_WORDS[fact]}</li>
        ))}
      </ul>
    </Alert>
  );
};

type FlowErrorsProps = Pick<OneFlowProps, "move" | "flow" | "onNewQuote">;

/** Errors that only a new quote can resolve. */
const FINAL: ReadonlySet<string | null> = new Set([
  "simulation_failed",
  "no_route",
  "insufficient_liquidity",
]);

const needsNewQuote = ({ move, flow }: FlowErrorsProps, error: unknown): boolean => {
  if (FINAL.has(codeOf(error))) return true;
  if (codeOf(error) === "quote_price_moved") return flow.moved === null;
  if (codeOf(error) !== "quote_expired") return false;
  // The price lock lasts 60 s and ends before the quote expires. Until the quote expires,
  // preparing again is enough.
  const { expiresAt } = flow.subject;
  return (
    error !== move.executeError || (expiresAt !== null && Date.parse(expiresAt) <= Date.now())
  );
};

const actionOf = (props: FlowErrorsProps, error: unknown): ReactNode => {
  const operationId = extraOf(error, "operationId");
  if (typeof operationId === "string") {
    return (
      <Link href={`/activity/${operationId}`} className="link">
        Show the operation
      </Link>
    );
  }
  if (!needsNewQuote(props, error)) return null;
  return <NewQuoteButton noun={props.flow.subject.noun} onNewQuote={props.onNewQuote} />;
};

interface NewQuoteButtonProps {
  readonly noun: Flow["subject"]["noun"];
  readonly onNewQuote: () => void;
}

const NewQuoteButton = ({ noun, onNewQuote }: NewQuoteButtonProps): ReactNode => (
  <Button size="sm" className="self-start" onClick={onNewQuote}>
    {noun === "transfer" ? "Start the transfer again" : "Get a new quote"}
  </Button>
);

const moneyOf = ({ move }: FlowErrorsProps, error: unknown): string => {
  if (codeOf(error) === "network_error")
    return "Whether it was accepted is not known. Trying again is safe: the money moves once.";
  if (codeOf(error) === "quote_already_used")
    return "The money moves once, with that operation.";
  return move.signing.moved
    ? "What your wallets sent already is on its way, as the steps above say."
    : "The money is where it was.";
};

/** Scrolls to an error, which would otherwise be hidden below the long receipt. */
const show = (node: HTMLElement | null): void => node?.scrollIntoView({ block: "nearest" });

/**
 * Errors of prepare and execute; each says where the money is. A moved price has its own notice.
 */
const FlowErrors = (props: FlowErrorsProps): ReactNode => {
  const { prepareError, executeError } = props.move;
  return (
    <>
      {prepareError == null || props.flow.moved !== null ? null : (
        <div ref={show}>
          <ErrorState
            compact
            error={prepareError}
            money="The money is where it was."
            action={actionOf(props, prepareError)}
          />
        </div>
      )}
      {executeError == null ? null : (
        <div ref={show}>
          <ErrorState
            compact
            error={executeError}
            money={moneyOf(props, executeError)}
            action={actionOf(props, executeError)}
          />
        </div>
      )}
    </>
  );
};

interface LockedActionsProps extends FlowProps {
  readonly expiresAt: string;
}

const wordsOf = ({ signing }: MoveFlow, { subject }: Flow): string => {
  const { steps } = signing;
  if (signaturesOf(steps) !== null) return subject.act;
  if (signing.busy) return "Waiting for the wallet …";
  const next = steps.findIndex(({ at }) => at.state !== "done");
  return steps.some(({ at }) => at.state !== "todo")
    ? `Go on with step ${String(next + 1)}`
    : `Sign: ${subject.act}`;
};

/**
 * The countdown of the price lock (60 s), with the button that executes. After the lock ends, the
 * button prepares again.
 */
const LockedActions = ({ move, flow, expiresAt }: LockedActionsProps): ReactNode => {
  const [over, setOver] = useState(false);
  // Once a wallet has sent a transaction, the move cannot be prepared again and must be completed.
  const mayPrepare = over && !move.executing && !move.signing.moved;
  return (
    <>
      <Countdown
        until={expiresAt}
        label="Expires in"
        expiredText="The price is no longer held"
        onExpire={() => setOver(true)}
        className="text-sm text-fg-2"
      />
      <Button
        variant="primary"
        className={ACT_LOOKS}
        loading={mayPrepare ? move.preparing : move.executing}
        disabled={flow.moved !== null}
        onClick={() => void (mayPrepare ? move.prepareAgain() : move.execute())}
      >
        {mayPrepare ? "Prepare again" : wordsOf(move, flow)}
      </Button>
    </>
  );
};
