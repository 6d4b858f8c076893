"use client";

import { ArrowDownUp } from "lucide-react";
import type { ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { EmailNotice } from "@/components/features/money-flow/email-notice";
import { useMoveFlow } from "@/components/features/money-flow/use-move-flow";
import { MoveDialog } from "@/components/features/money-flow/move-dialog";
import { useAcceptedImpact } from "@/components/features/money-flow/price-notices";
import { type RequestedAmount, shortageOf } from "@/components/features/money-flow/spendable";
import { chainIdOf, useRecipient } from "@/components/features/transfer/recipient-field";
import { Desk, DeskSkeleton } from "@/components/layout/desk";
import { Button } from "@/components/ui/button";
import { Form } from "@/components/ui/form";
import { PageHeader } from "@/components/ui/page-header";
import { messagesByField } from "@/components/ui/form-errors";
import { QueryPanel } from "@/components/ui/states";
import { createQuote } from "@/lib/api-client/calls.gen";
import { isSameText } from "@/lib/core/same-text";
import { readAmount } from "@/lib/core/read-amount";
import { sumAmounts } from "./decimal";
import { DestinationCard } from "./destination-card";
import { fieldOfPath, findToken, type SourceValues } from "./form-model";
import { QuoteCard, useQuote } from "./quote-card";
import { reviveQuote, subjectOfQuote } from "./quote-subject";
import { RoutesCard } from "./routes";
import { SourcesCard } from "./sources-card";
import { useChosenRoute } from "./use-chosen-route";
import { swapDraft, type SwapForm, useSwapForm } from "./use-swap-form";
import { spendableAt, type SwapSetup, useSwapSetup } from "./use-swap-setup";

export const Swap = (): ReactNode => {
  const setup = useSwapSetup();
  return (
    <>
      <PageHeader
        title="Swap"
        description="Any of your wallets and chains into one token, as one operation."
      />
      <QueryPanel
        query={setup}
        what="wallets and tokens"
        loading={<DeskSkeleton what="wallets and tokens" />}
      >
        {(data) => <SwapDesk setup={data} />}
      </QueryPanel>
    </>
  );
};

/** Request body of the example call until the form is complete. */
const EXAMPLE_BODY = {
  from: [{ address: "0x…", chainId: 31337, token: "USDC", amount: "12.5" }],
  toChainId: 31338,
  toToken: "WETH",
  toAddress: "0x…",
  slippageBps: 50,
};

const SwapDesk = ({ setup }: { readonly setup: SwapSetup }): ReactNode => {
  const swap = useSwapForm(setup);
  const chosen = useChosenRoute(swap.body);
  const accepted = useAcceptedImpact(chosen.body);
  const view = useQuote(accepted.body);
  const flow = useMoveFlow({
    kept: { key: "causeway.swap.flow", revive: (stored) => reviveQuote(stored, setup.wallets) },
    onDone: () => {
      swap.clearAmounts();
      swapDraft.drop();
    },
  });
  const serverErrors = messagesByField(view.error, fieldOfPath);
  const recipient = useRecipient(swap.values.toAddress, chainIdOf(swap.values.toChainId));
  const shownQuote = view.outdated ? null : view.quote;
  return (
    <>
      <Form form={swap.form} onSubmit={view.ask} aria-label="Swap">
        <Desk
          fields={
            <>
              <EmailNotice />
              <SourcesCard setup={setup} swap={swap} serverErrors={serverErrors.fields} />
              <FlipButton swap={swap} amount={shownQuote?.to.amount ?? ""} />
              <DestinationCard
                setup={setup}
                swap={swap}
                recipient={recipient}
                serverErrors={serverErrors.fields}
                quote={shownQuote}
              />
              <RoutesCard quote={view.quote} outdated={view.outdated} chosen={chosen} />
              <ApiSnippet call={createQuote} body={accepted.body ?? EXAMPLE_BODY} />
            </>
          }
          receipt={
            <QuoteCard
              view={view}
              shortage={shortageOf(requestedAmountsOf(setup, swap.values.sources))}
              showError={serverErrors.rest !== null}
              obstacle={recipient.obstacle}
              said={recipient.said}
              onReview={(quote) => flow.start(subjectOfQuote(quote))}
              onAcceptImpact={accepted.accept}
            />
          }
        />
      </Form>
      <MoveDialog
        flow={flow}
        onMoved={view.ask}
        onNewQuote={() => {
          flow.close();
          view.ask();
        }}
      />
    </>
  );
};

interface SourceAmount extends RequestedAmount {
  readonly assetId: string;
  readonly isTreasury: boolean;
}

const sourceAmountsOf = (setup: SwapSetup, sources: readonly SourceValues[]): SourceAmount[] =>
  sources.flatMap((source) => {
    const token = findToken(setup.tokens, source.chainId, source.token);
    if (token === undefined) return [];
    return {
      ...spendableAt(setup, source),
      symbol: token.symbol,
      requested: readAmount(source.amount),
      assetId: token.assetId,
      isTreasury: isSameText(setup.treasury?.address ?? "", source.address),
    };
  });

/**
 * The requested and the spendable amount of each source. When several sources take the same asset
 * from the treasury, one more entry has their sum, because they share the part that backs no global
 * account.
 */
const requestedAmountsOf = (
  setup: SwapSetup,
  sources: readonly SourceValues[],
): RequestedAmount[] => {
  const single = sourceAmountsOf(setup, sources);
  const shared = (setup.reserves ?? []).flatMap(({ assetId, liabilities, available }) => {
    const parts = single.filter(
      (one) => one.isTreasury && one.assetId === assetId && one.backing !== null,
    );
    if (parts.length < 2) return [];
    return {
      symbol: parts[0]?.symbol ?? assetId,
      requested: sumAmounts(parts.map((part) => part.requested ?? "0")),
      amount: available,
      backing: liabilities,
    };
  });
  return [...single, ...shared];
};

interface FlipButtonProps {
  readonly swap: SwapForm;
  /** The amount that arrives according to the shown quote; empty when there is no quote. */
  readonly amount: string;
}

/** Swaps the source and the destination. Only possible with one source. */
const FlipButton = ({ swap, amount }: FlipButtonProps): ReactNode => (
  <div className="relative z-1 -my-6 flex justify-center">
    <Button
      size="sm"
      className="size-8 rounded-full px-0"
      aria-label="Flip the direction"
      title={swap.rows.length > 1 ? "Only one source can be flipped" : "Flip the direction"}
      disabled={swap.rows.length > 1}
      onClick={() => swap.flip(amount)}
    >
      <ArrowDownUp aria-hidden />
    </Button>
  </div>
);
