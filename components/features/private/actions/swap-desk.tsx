"use client";

import { ArrowRight } from "lucide-react";
import { useEffect, useState, type ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { PriceChange } from "@/components/features/money-flow/price-change";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Countdown } from "@/components/ui/countdown";
import { EmptyState } from "@/components/ui/empty-state";
import { Form } from "@/components/ui/form";
import { ErrorState } from "@/components/ui/error-state";
import { Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { quotePrivateSwap } from "@/lib/api-client/calls.gen";
import { pictureAmount } from "../amounts";
import { Honesty } from "../honesty";
import { ObserverCard } from "../observer/observer-card";
import type { Observed } from "../observer/scenes";
import type { PrivateQuote } from "../types";
import { API_FIELDS, readableAmount, slippageBps } from "./form-model";
import { dropKeptQuote, keepQuote, readKeptQuote } from "./kept-quote";
import { PayCard } from "./pay-card";
import { ReceiveCard } from "./receive-card";
import { SwapDialog } from "./swap-dialog";
import { SwapReceipt } from "./swap-receipt";
import { usePrivateForm, type PrivateForm, type PrivateSetup } from "./use-private-form";
import { usePrivateQuote, type PrivateQuoteView, type QuoteBody } from "./use-private-quote";

const EXAMPLE: QuoteBody = { chainId: 31337, fromToken: "USDC", toToken: "WETH", amount: "25", slippageBps: 50 };

const bodyOf = ({ amount, pool, toPool, values }: PrivateForm): QuoteBody | null => {
  const bps = slippageBps(values.slippage);
  if (amount === null || pool === undefined || toPool === undefined || bps === null) return null;
  return {
    chainId: pool.chainId,
    fromToken: pool.token.address,
    toToken: toPool.token.address,
    amount,
    slippageBps: bps,
  };
};

const observedOf = (form: PrivateForm, walletName: string, quote: PrivateQuote | null): Observed | null => {
  const { pool, toPool, values } = form;
  if (pool === undefined) return null;
  const amount = readableAmount(values.amount, pool);
  return {
    kind: "swap",
    stage: "planned",
    amount: amount === null ? `… ${pool.token.symbol}` : pictureAmount(amount, pool.token.symbol),
    arrives:
      quote === null
        ? toPool === undefined
          ? null
          : `… ${toPool.token.symbol}`
        : `≈ ${pictureAmount(quote.expected.amount, quote.expected.token.symbol)}`,
    wallet: walletName,
    recipient: walletName,
    pool: `${pool.token.symbol} pool`,
    toPool: toPool === undefined ? null : `${toPool.token.symbol} pool`,
    swapVenue: quote?.swapVenue ?? null,
    setSize: pool.anonymitySet,
  };
};

/** The quote under review, which outlives a reload while it is good. */
const useReviewed = (owner: string, walletId: string) => {
  const [reviewed, setReviewed] = useState<PrivateQuote | null>(null);
  useEffect(() => {
    setReviewed((now) => now ?? readKeptQuote({ owner, walletId }));
  }, [owner, walletId]);
  const review = (quote: PrivateQuote | null): void => {
    setReviewed(quote);
    if (quote === null) dropKeptQuote();
    else keepQuote({ owner, walletId, quote });
  };
  return [reviewed, review] as const;
};

/** A swap inside the pools: form, quote, observer's view, and the dialog that approves and executes it. */
export const SwapDesk = ({ setup }: { readonly setup: PrivateSetup }): ReactNode => {
  const form = usePrivateForm("swap", setup);
  const body = bodyOf(form);
  const view = usePrivateQuote(body);
  const [reviewing, setReviewing] = useReviewed(setup.setup.treasury?.id ?? "", form.values.walletId);
  const wallet = setup.wallets.find(({ privacyWalletId }) => privacyWalletId === form.values.walletId);
  const walletName = wallet?.name ?? "Private wallet";
  const observed = observedOf(form, walletName, view.outdated ? null : view.quote);
  return (
    <>
      <Form
        form={form.form}
        error={view.error}
        fieldOf={API_FIELDS}
        onSubmit={view.ask}
        aria-label="swap"
        className="flex flex-col gap-4"
      >
        <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(0,7fr)_minmax(0,5fr)]">
          <div className="flex min-w-0 flex-col gap-4">
            <PayCard form={form} wallets={setup.wallets} setup={setup.setup} />
            <ReceiveCard form={form} />
            {observed === null ? null : <ObserverCard observed={observed} />}
          </div>
          <QuoteCard view={view} walletName={walletName} onReview={setReviewing}>
            <Honesty
              engine={setup.balances.engine}
              setSize={form.pool?.anonymitySet ?? null}
              staysPublic={setup.balances.staysPublic}
            />
          </QuoteCard>
        </div>
        <ApiSnippet method={quotePrivateSwap.method} path={quotePrivateSwap.path} body={body ?? EXAMPLE} />
      </Form>
      {reviewing === null ? null : (
        <SwapDialog
          quote={reviewing}
          wallet={{ id: form.values.walletId, name: walletName }}
          onNewQuote={() => {
            setReviewing(null);
            view.ask();
          }}
          onClose={() => setReviewing(null)}
        />
      )}
    </>
  );
};

interface QuoteCardProps {
  readonly view: PrivateQuoteView;
  readonly walletName: string;
  readonly onReview: (quote: PrivateQuote) => void;
  readonly children: ReactNode;
}

const State = ({ view }: { readonly view: PrivateQuoteView }): ReactNode => {
  if (view.quote === null) return null;
  if (view.outdated) return <Badge tone="warning">Out of date</Badge>;
  return <Countdown until={view.quote.expiresAt} label="Expires in" onExpire={view.onExpire} className="text-fg-2" />;
};

const promised = ({ minimum, expected }: PrivateQuote) => ({
  amount: expected.amount,
  minAmount: minimum.amount,
  token: expected.token,
});

const QuoteCard = ({ view, walletName, onReview, children }: QuoteCardProps): ReactNode => {
  const { quote } = view;
  const usable = quote !== null && !view.outdated && !view.expired && !view.loading && view.error == null;
  const isAccepted = view.seen === null;
  return (
    <Card title="Receipt" className="lg:sticky lg:top-16" actions={<State view={view} />}>
      <div className="flex flex-col gap-3">
        <p role="status" className="sr-only">
          {usable ? `Minimum received ${quote.minimum.amount} ${quote.minimum.token.symbol}.` : ""}
        </p>
        {quote !== null ? (
          <div className={view.outdated ? "opacity-55" : undefined}>
            <SwapReceipt quote={quote} walletName={walletName} />
          </div>
        ) : view.loading ? (
          <LoadingRows what="the quote" />
        ) : (
          <EmptyState title="No quote yet">The quote shows the minimum received and the fees.</EmptyState>
        )}
        {quote === null || view.seen === null || view.outdated ? null : (
          <PriceChange seen={promised(view.seen)} fresh={promised(quote)} onAccept={view.accept} />
        )}
        {view.error == null || Object.keys(view.fieldErrors).length > 0 ? null : (
          <ErrorState compact error={view.error} money="Nothing was sent." onRetry={view.ask} />
        )}
        {usable ? (
          <Button variant="primary" size="lg" disabled={!isAccepted} onClick={() => onReview(quote)}>
            Review <ArrowRight aria-hidden />
          </Button>
        ) : (
          <Button type="submit" variant="primary" size="lg" loading={view.loading}>
            {view.expired && !view.outdated ? "Get a new quote" : "Get quote"}
          </Button>
        )}
        {usable ? (
          <Button type="submit" loading={view.loading}>
            Refresh quote
          </Button>
        ) : null}
        {children}
      </div>
    </Card>
  );
};
