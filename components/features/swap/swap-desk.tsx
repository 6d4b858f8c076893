"use client";

import type { ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { MoveDialog } from "@/components/features/money-flow/move-dialog";
import { useMoveFlow } from "@/components/features/money-flow/use-move-flow";
import { Form } from "@/components/ui/form";
import { useRecipient } from "@/components/features/transfer/use-recipient";
import { useAcceptedImpact } from "@/components/features/money-flow/refused-price";
import { createQuote } from "@/lib/contracts/swap";
import { DestinationCard } from "./destination-card";
import { dropDraft } from "./draft";
import { fieldErrors } from "./field-errors";
import { QuoteCard } from "./quote-card";
import { subjectOfQuote } from "./quote-subject";
import { SourcesCard } from "./sources-card";
import { useQuote } from "./use-quote";
import { useSwapForm } from "./use-swap-form";
import type { SwapSetup } from "./use-swap-setup";

/** Stands in the snippet until the form is complete. */
const EXAMPLE_BODY = {
  from: [{ address: "0x…", chainId: 31337, token: "USDC", amount: "12.5" }],
  toChainId: 31338,
  toToken: "WETH",
  toAddress: "0x…",
  slippageBps: 50,
};

/** The form, its quote, and the dialog that approves and executes it. */
export const SwapDesk = ({ setup }: { readonly setup: SwapSetup }): ReactNode => {
  const swap = useSwapForm(setup);
  const accepted = useAcceptedImpact(swap.body);
  const view = useQuote(accepted.body);
  const flow = useMoveFlow({
    onDone: () => {
      swap.clearAmounts();
      dropDraft();
    },
  });
  const serverErrors = fieldErrors(view.error);
  const recipient = useRecipient(swap.values.toAddress);
  return (
    <>
      <Form form={swap.form} onSubmit={view.refresh} className="flex flex-col gap-4" aria-label="Swap">
        <SourcesCard setup={setup} swap={swap} serverErrors={serverErrors.fields} />
        <DestinationCard setup={setup} swap={swap} recipient={recipient} serverErrors={serverErrors.fields} />
        <QuoteCard
          setup={setup}
          view={view}
          showError={!serverErrors.complete}
          obstacle={recipient.obstacle}
          onReview={(quote) => flow.start(subjectOfQuote(quote))}
          onAcceptImpact={accepted.accept}
        />
        <ApiSnippet method={createQuote.method} path={createQuote.path} body={accepted.body ?? EXAMPLE_BODY} />
      </Form>
      <MoveDialog
        flow={flow}
        onMoved={view.refresh}
        onNewQuote={() => {
          flow.close();
          view.refresh();
        }}
      />
    </>
  );
};
