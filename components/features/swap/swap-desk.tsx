"use client";

import type { ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { EmailNotice } from "@/components/features/money-flow/email-notice";
import { shortageOf } from "@/components/features/money-flow/spendable";
import { Desk } from "@/components/layout/desk";
import { MoveDialog } from "@/components/features/money-flow/move-dialog";
import { useMoveFlow } from "@/components/features/money-flow/use-move-flow";
import { Form } from "@/components/ui/form";
import { useRecipient } from "@/components/features/transfer/use-recipient";
import { useAcceptedImpact } from "@/components/features/money-flow/refused-price";
import { createQuote } from "@/lib/api-client/calls.gen";
import { askedOf } from "./asked";
import { DestinationCard } from "./destination-card";
import { dropDraft } from "./draft";
import { fieldErrors } from "./field-errors";
import { FlipButton } from "./flip-button";
import { QuoteCard } from "./quote-card";
import { RouteCards } from "./route-cards";
import { reviveQuote, subjectOfQuote } from "./quote-subject";
import { SourcesCard } from "./sources-card";
import { useChosenRoute } from "./use-chosen-route";
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
  const chosen = useChosenRoute(swap.body);
  const accepted = useAcceptedImpact(chosen.body);
  const view = useQuote(accepted.body);
  const flow = useMoveFlow({
    kept: { key: "causeway.swap.flow", revive: (stored) => reviveQuote(stored, setup.wallets) },
    onDone: () => {
      swap.clearAmounts();
      dropDraft();
    },
  });
  const serverErrors = fieldErrors(view.error);
  const recipient = useRecipient(swap.values.toAddress);
  const shownQuote = view.outdated ? null : view.quote;
  return (
    <>
      <Form form={swap.form} onSubmit={view.refresh} aria-label="Swap">
        <Desk
          fields={
            <>
              <EmailNotice />
              <SourcesCard setup={setup} swap={swap} serverErrors={serverErrors.fields} />
              <FlipButton swap={swap} amount={shownQuote?.to.amount ?? ""} />
              <DestinationCard setup={setup} swap={swap} recipient={recipient} serverErrors={serverErrors.fields} />
              <RouteCards quote={view.quote} chosen={chosen} />
              <ApiSnippet method={createQuote.method} path={createQuote.path} body={accepted.body ?? EXAMPLE_BODY} />
            </>
          }
          receipt={
            <QuoteCard
              setup={setup}
              view={view}
              shortage={shortageOf(askedOf(setup, swap.values))}
              showError={!serverErrors.complete}
              obstacle={recipient.obstacle}
              onReview={(quote) => flow.start(subjectOfQuote(quote))}
              onAcceptImpact={accepted.accept}
            />
          }
        />
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
