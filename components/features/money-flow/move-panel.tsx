"use client";

import { ArrowLeft } from "lucide-react";
import Link from "next/link";
import { type ReactNode, useState } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { NamedAddress } from "@/components/features/names/names";
import { signaturesOf } from "@/components/features/signing/signing-model";
import { SigningSteps } from "@/components/features/signing/signing-steps";
import { WarningAlerts } from "@/components/features/warnings/warnings";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Fact, Facts } from "@/components/ui/card";
import { ChainName } from "@/components/ui/marks";
import { Countdown } from "@/components/ui/time";
import { Dialog } from "@/components/ui/dialog";
import { EmptyState, ErrorState } from "@/components/ui/states";
import { type Column, Table } from "@/components/ui/table";
import { Steps } from "@/components/ui/timeline";
import { executeSwap, prepareSwap, requestOtp } from "@/lib/api-client/calls.gen";
import type { Callable } from "@/lib/contracts/contract";
import { codeOf, extraOf } from "./api-error";
import { CODE_FORM_ID, CodeStep } from "./proof-field";
import { type Flow, mayContinue } from "./move-flow";
import { NetworkFee } from "./quote-shell";
import { PriceChange } from "./price-notices";
import type { Prepared } from "./types";
import type { MoveFlow } from "./use-move-flow";

const STEP_INDEX = { code: 1, review: 2 } as const;
const FIRST_STEP = { swap: "Quote", transfer: "Transfer", retry: "Quote" } as const;

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
  if (flow.step === "review")
    return snippet(executeSwap, signatures.length === 0 ? {} : { signatures });
  if (flow.approved) return snippet(prepareSwap);
  return flow.sent === null ? snippet(requestOtp) : snippet(prepareSwap, { otp: "123456" });
};

export const MovePanel = ({ flow: move, onNewQuote, onMoved }: MoveDialogProps): ReactNode => {
  const { flow } = move;
  if (flow === null) return null;
  const { noun } = flow.subject;
  return (
    <Dialog
      open={move.open}
      onClose={() => move.close()}
      title={flow.step === "code" ? `Approve the ${noun}` : `Review the ${noun}`}
      description={
        <Steps
          label={`Steps of the ${noun}`}
          steps={[FIRST_STEP[noun], "Code", "Review", "Done"]}
          current={STEP_INDEX[flow.step]}
        />
      }
      size="lg"
      footer={<FlowFooter move={move} flow={flow} />}
    >
      <div className="flex flex-col gap-4">
        {flow.step === "code" ? (
          <CodeStep move={move} flow={flow} />
        ) : (
          <ReviewStep move={move} flow={flow} />
        )}
        {flow.moved === null ? null : (
          <PriceChange
            seen={flow.subject.to}
            fresh={flow.moved.to}
            onAccept={() => {
              move.acceptMoved();
              onMoved?.();
            }}
            title="The price moved below what you approved. Nothing was sent."
            acceptLabel="Accept, and approve with a new code"
          />
        )}
        <FlowErrors move={move} flow={flow} onNewQuote={onNewQuote} />
        <FlowSnippet move={move} flow={flow} />
      </div>
    </Dialog>
  );
};

interface FlowErrorsProps extends FlowProps {
  readonly onNewQuote: () => void;
}

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
  // The price lock lasts 60 s and ends before the quote expires. Until then, preparing again is
  // enough.
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
  return (
    <Button size="sm" onClick={props.onNewQuote}>
      {props.flow.subject.noun === "transfer" ? "Start the transfer again" : "Get a new quote"}
    </Button>
  );
};

const moneyOf = ({ move }: FlowErrorsProps, error: unknown): string => {
  if (codeOf(error) === "network_error")
    return "Whether it was accepted is not known. Executing again is safe: the money moves once.";
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

const FlowFooter = ({ move, flow }: FlowProps): ReactNode => {
  const busy = move.preparing || move.executing;
  return (
    <>
      <Button className="mr-auto" variant="ghost" disabled={busy} onClick={move.back}>
        <ArrowLeft aria-hidden />{" "}
        {flow.step === "code" ? `Back to the ${flow.subject.noun}` : "Back"}
      </Button>
      {flow.step === "code" ? (
        <Button
          variant="primary"
          loading={move.preparing}
          type="submit"
          form={CODE_FORM_ID}
          disabled={!mayContinue(flow)}
        >
          Continue
        </Button>
      ) : null}
      {flow.step === "review" && flow.prepared !== null ? (
        <LockedActions
          key={flow.prepared.expiresAt}
          move={move}
          flow={flow}
          expiresAt={flow.prepared.expiresAt}
        />
      ) : null}
    </>
  );
};

interface LockedActionsProps extends FlowProps {
  readonly expiresAt: string;
}

const wordsOf = ({ signing }: MoveFlow, { subject }: Flow): string => {
  const { steps } = signing;
  if (signaturesOf(steps) !== null) return `Execute ${subject.noun}`;
  if (signing.busy) return "Waiting for the wallet …";
  const next = steps.findIndex(({ at }) => at.state !== "done");
  return steps.some(({ at }) => at.state !== "todo")
    ? `Go on with step ${String(next + 1)}`
    : "Sign and execute";
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
        expiredText="The lock of the price is over"
        onExpire={() => setOver(true)}
      />
      <Button
        variant="primary"
        loading={mayPrepare ? move.preparing : move.executing}
        disabled={flow.moved !== null}
        onClick={() => void (mayPrepare ? move.prepare("") : move.execute())}
      >
        {mayPrepare ? "Prepare again" : wordsOf(move, flow)}
      </Button>
    </>
  );
};

const ReviewStep = ({ move, flow: { subject, prepared } }: FlowProps): ReactNode => {
  if (prepared === null) return null;
  return (
    <div className="flex flex-col gap-4">
      {subject.receipt(prepared.to)}
      <Facts>
        <Fact label="Network fee">
          <NetworkFee paidBy={prepared.networkFees.map(({ paidBy }) => paidBy)} />
        </Fact>
      </Facts>
      <WarningAlerts warnings={prepared.warnings} />
      <BalanceChanges changes={prepared.simulation.balanceChanges} />
      <SigningSteps signing={move.signing} onGoOn={() => void move.execute()} />
    </div>
  );
};

type Change = Prepared["simulation"]["balanceChanges"][number];

const CERTAINTY_WORDS = {
  simulated: "simulated",
  expected: "expected, after the bridge",
  minimum: "minimum",
} as const satisfies Record<Change["certainty"], string>;

const COLUMNS: readonly Column<Change>[] = [
  {
    id: "wallet",
    header: "Wallet",
    phone: "title",
    cell: (change) => <NamedAddress value={change.walletAddress} />,
  },
  { id: "chain", header: "Chain", cell: (change) => <ChainName chainId={change.chainId} /> },
  {
    id: "change",
    header: "Change",
    align: "right",
    cell: (change) => (
      <Amount
        value={change.change.replace(/^\+/, "")}
        unit={change.token.symbol}
        signed
        column={6}
        className={change.change.startsWith("-") ? "text-fg" : "text-success"}
      />
    ),
  },
  {
    id: "certainty",
    header: "How sure",
    cell: (change) => <span className="text-fg-2">{CERTAINTY_WORDS[change.certainty]}</span>,
  },
];

/** The balance changes that a simulation on the current state of the chains predicts. */
const BalanceChanges = ({ changes }: { readonly changes: readonly Change[] }): ReactNode => (
  <section aria-labelledby="balance-changes" className="rounded-card border">
    <h3 id="balance-changes" className="border-b px-4 py-2 font-semibold">
      Balance changes
    </h3>
    {changes.length === 0 ? (
      <EmptyState title="The simulation changed no balance" />
    ) : (
      <Table
        caption="Simulated balance changes"
        columns={COLUMNS}
        rows={changes}
        rowKey={(change) =>
          `${change.walletAddress}-${String(change.chainId)}-${change.token.address}-${change.certainty}`
        }
      />
    )}
  </section>
);
