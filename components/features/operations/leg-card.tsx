"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import type { ReactNode } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { NamedAddress } from "@/components/features/names/names";
import { useApiMutation, useCache } from "@/components/features/session/use-api";
import { useChainName } from "@/components/providers/public-config";
import { TxHash } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Card, Fact, Facts } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { Form, FormError, TextField } from "@/components/ui/form";
import { ChainName } from "@/components/ui/marks";
import { Time } from "@/components/ui/time";
import { STEP_VIEWS, type StepState } from "@/components/ui/timeline";
import { toast } from "@/components/ui/toast";
import { decideRefund, listOperations } from "@/lib/api-client/calls.gen";
import { isFinal } from "@/lib/core/status";
import { type LegStep, legSteps } from "./leg-timeline";
import { type Leg, type OperationEvent, operationQuery } from "./operation";

interface LegCardProps {
  readonly operationId: string;
  readonly leg: Leg;
  readonly toChainId: number;
  readonly delayed: boolean;
  readonly events: readonly OperationEvent[];
}

const toRow = (step: LegStep): StepRow => ({
  id: step.id,
  title: step.title,
  state: step.state,
  note: step.note,
  detail:
    step.transaction?.txHash == null ? null : (
      <TxHash value={step.transaction.txHash} href={step.transaction.explorerUrl} />
    ),
  aside: step.at === null ? null : <Time value={step.at} clock />,
});

/**
 * The states in which the deadline on the destination chain has passed. The card then does not show
 * the deadline.
 */
const BACK: ReadonlySet<Leg["state"]> = new Set([
  "refunding",
  "refund_seen",
  "needs_attention",
  "refunded",
]);

const VIA_WORDS = {
  user_operation: "",
  transaction: ", which sends it itself",
  permit: ", which permitted the treasury to take exactly this",
} as const satisfies Record<Leg["via"], string>;

export const LegCard = ({
  operationId,
  leg,
  toChainId,
  delayed,
  events,
}: LegCardProps): ReactNode => {
  const chainName = useChainName();
  const steps = legSteps(leg, { toChainId, chainName, events, delayed }).map(toRow);
  const deadline =
    leg.fillDeadline === null || isFinal(leg.status) || BACK.has(leg.state)
      ? null
      : leg.fillDeadline;
  const decides = leg.state === "needs_attention" && leg.attention !== null;
  return (
    <Card
      flush
      title={
        <>
          <Amount value={leg.sent.amount} unit={leg.sent.token.symbol} /> from{" "}
          <ChainName chainId={leg.chainId} />
        </>
      }
      description={
        <span className="flex flex-wrap items-center gap-x-1">
          From <NamedAddress value={leg.walletAddress} />
          {VIA_WORDS[leg.via]}
        </span>
      }
    >
      <StepRows label={`Steps from ${chainName(leg.chainId)}`} steps={steps} />
      {deadline === null && !decides ? null : (
        <div className="border-t px-4 py-2">
          {decides && leg.attention !== null ? (
            <RefundDecision
              operationId={operationId}
              legId={leg.id}
              attention={leg.attention}
            />
          ) : null}
          {deadline === null ? null : (
            <p className="text-sm text-fg-3">
              Delivered by <Time value={deadline} absolute />, or sent back after that.
            </p>
          )}
        </div>
      )}
    </Card>
  );
};

type Attention = NonNullable<Leg["attention"]>;

const decisionForm = z.object({
  txHash: z
    .string()
    .trim()
    .regex(/^0x[0-9a-fA-F]{64}$/, "Enter a transaction hash: 0x and 64 hexadecimal digits"),
});

interface RefundDecisionProps {
  readonly operationId: string;
  readonly legId: string;
  readonly attention: Attention;
}

const Payments = ({ attention }: Pick<RefundDecisionProps, "attention">): ReactNode => (
  <ul
    aria-label="Payments that may be the refund"
    className="flex flex-col gap-2 border-t py-3"
  >
    {attention.payments.map(({ txHash, explorerUrl, paid, reason }) => (
      <li key={`${txHash}-${paid.amountBase}`} className="flex flex-col gap-0.5 text-sm">
        <span className="flex flex-wrap items-baseline justify-between gap-2">
          <TxHash value={txHash} href={explorerUrl} />
          <Amount value={paid.amount} unit={paid.token.symbol} exact />
        </span>
        <span className="text-fg-2">{reason}</span>
      </li>
    ))}
  </ul>
);

const useDecision = ({ operationId, legId }: RefundDecisionProps) => {
  const cache = useCache();
  const decision = useApiMutation(decideRefund);
  type Body = Parameters<typeof decision.mutateAsync>[0]["body"];
  const decide = async (body: Body, done: string): Promise<void> => {
    const decided = await decision
      .mutateAsync({ params: { id: operationId, legId }, body })
      .catch(() => null);
    if (decided === null) return;
    cache.set(operationQuery(operationId), decided);
    void cache.refresh(listOperations);
    toast.success(done);
  };
  return { decision, decide };
};

const RefundDecision = (props: RefundDecisionProps): ReactNode => {
  const { attention } = props;
  const { decision, decide } = useDecision(props);
  const [only, ...more] = attention.payments;
  const txHash = only !== undefined && more.length === 0 ? only.txHash : "";
  const form = useForm({ resolver: zodResolver(decisionForm), defaultValues: { txHash } });
  const refunded = (values: z.infer<typeof decisionForm>): Promise<void> =>
    decide(
      { decision: "refunded", txHash: values.txHash },
      "Recorded. The refund is followed until it is final.",
    );
  const keepWaiting = (): Promise<void> =>
    decide(
      { decision: "not_refunded_keep_waiting" },
      "Recorded. The refund is looked for again.",
    );
  return (
    <section aria-label="Decide about the refund" className="flex flex-col gap-3 pt-2">
      <Alert tone="warning" title="A person has to decide">
        {attention.message}
      </Alert>
      <Facts>
        <Fact label="The bridge owes">
          <Amount
            value={attention.expected.amount}
            unit={attention.expected.token.symbol}
            exact
          />
        </Fact>
        <Fact label="Deposit">
          {attention.depositTxHash === null ? "–" : <TxHash value={attention.depositTxHash} />}
        </Fact>
        {attention.setAside === 0 ? null : (
          <Fact label="Payments set aside">{attention.setAside}</Fact>
        )}
      </Facts>
      {attention.payments.length === 0 ? null : <Payments attention={attention} />}
      <Form
        form={form}
        error={decision.error}
        onSubmit={refunded}
        className="flex flex-col gap-3"
      >
        <TextField
          control={form.control}
          name="txHash"
          label="Transaction that paid it back"
          hint="It is checked: it must have paid the whole amount to this wallet, and no other refund may account for it."
          input={{ autoComplete: "off", spellCheck: false }}
        />
        <FormError money="Nothing was changed." />
        <div className="flex flex-wrap gap-2">
          <Button type="submit" variant="primary" loading={decision.isPending}>
            It was refunded
          </Button>
          <Button disabled={decision.isPending} onClick={() => void keepWaiting()}>
            Not refunded: keep waiting
          </Button>
        </div>
      </Form>
    </section>
  );
};

interface StepRow {
  readonly id: string;
  readonly title: string;
  readonly state: StepState;
  /** The number of confirmations, or an explanation such as the reason of a failure. */
  readonly note: string | null;
  /** A transaction hash. */
  readonly detail: ReactNode;
  /** Content at the right, usually a time. */
  readonly aside: ReactNode;
}

interface StepRowsProps {
  readonly label: string;
  readonly steps: readonly StepRow[];
}

const StepRows = ({ label, steps }: StepRowsProps): ReactNode => (
  <ol aria-label={label} className="divide-y">
    {steps.map((step) => {
      const { icon: Icon, text, word } = STEP_VIEWS[step.state];
      return (
        <li
          key={step.id}
          aria-current={step.state === "current" ? "step" : undefined}
          className="grid min-h-9 grid-cols-[auto_minmax(0,1fr)_auto] items-baseline gap-x-3 px-4 py-1.5"
        >
          <Icon className={cn("size-4 self-center", text)} aria-hidden />
          <span className="min-w-0">
            <span className={step.state === "todo" ? "text-fg-3" : undefined}>
              {step.title}
              <span className="sr-only">, {word}</span>
            </span>
            {step.note === null ? null : (
              <span className="num ml-2 text-sm whitespace-normal! text-fg-2">{step.note}</span>
            )}
            {step.detail === null ? null : (
              <span className="ml-2 max-sm:ml-0 max-sm:block">{step.detail}</span>
            )}
          </span>
          {/* A fixed width, so that no row grows when the time becomes known. */}
          <span className="min-w-16 text-right text-sm text-fg-3">{step.aside}</span>
        </li>
      );
    })}
  </ol>
);
