"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useForm } from "react-hook-form";
import { toast } from "@/components/ui/toast";
import { z } from "zod";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApiMutation } from "@/components/features/session/use-api";
import { TxHash } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Fact, Facts } from "@/components/ui/card";
import { Form, FormError, TextField } from "@/components/ui/form";
import { decideRefund, getOperation, listOperations } from "@/lib/api-client/calls.gen";
import type { Leg } from "./types";

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
  <ul aria-label="Payments that may be the refund" className="flex flex-col gap-2 border-t py-3">
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
  const queryClient = useQueryClient();
  const decision = useApiMutation(decideRefund);
  type Body = Parameters<typeof decision.mutateAsync>[0]["body"];
  const decide = async (body: Body, done: string): Promise<void> => {
    const decided = await decision.mutateAsync({ params: { id: operationId, legId }, body }).catch(() => null);
    if (decided === null) return;
    queryClient.setQueryData(queryKeyOf(getOperation, { params: { id: operationId } }), decided);
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(listOperations) });
    toast.success(done);
  };
  return { decision, decide };
};

/** The evidence about a refund that the chains do not show for certain, and the form by which a person decides about it. */
export const RefundDecision = (props: RefundDecisionProps): ReactNode => {
  const { attention } = props;
  const { decision, decide } = useDecision(props);
  const [only, ...more] = attention.payments;
  const txHash = only !== undefined && more.length === 0 ? only.txHash : "";
  const form = useForm({ resolver: zodResolver(decisionForm), defaultValues: { txHash } });
  const refunded = (values: z.infer<typeof decisionForm>): Promise<void> =>
    decide({ decision: "refunded", txHash: values.txHash }, "Recorded. The refund is followed until it is final.");
  const keepWaiting = (): Promise<void> =>
    decide({ decision: "not_refunded_keep_waiting" }, "Recorded. The refund is looked for again.");
  return (
    <section aria-label="Decide about the refund" className="flex flex-col gap-3 pt-2">
      <Alert tone="warning" title="A person has to decide">
        {attention.message}
      </Alert>
      <Facts>
        <Fact label="The bridge owes">
          <Amount value={attention.expected.amount} unit={attention.expected.token.symbol} exact />
        </Fact>
        <Fact label="Deposit">
          {attention.depositTxHash === null ? "–" : <TxHash value={attention.depositTxHash} />}
        </Fact>
        {attention.setAside === 0 ? null : <Fact label="Payments set aside">{attention.setAside}</Fact>}
      </Facts>
      {attention.payments.length === 0 ? null : <Payments attention={attention} />}
      <Form form={form} error={decision.error} onSubmit={refunded} className="flex flex-col gap-3">
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
