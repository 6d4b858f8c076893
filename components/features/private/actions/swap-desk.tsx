"use client";

import { ArrowRight } from "lucide-react";
import { type ReactNode, useState } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { PriceChange } from "@/components/features/money-flow/price-notices";
import { QuoteClock, type QuoteState } from "@/components/features/money-flow/quote-shell";
import { useChainName } from "@/components/providers/public-config";
import { useApiMutation } from "@/components/features/session/use-api";
import { Desk } from "@/components/layout/desk";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Combobox } from "@/components/ui/combobox";
import { EmptyState, LoadingRows } from "@/components/ui/states";
import { Field, Input } from "@/components/ui/field";
import { Form, FormError } from "@/components/ui/form";
import { quotePrivateSwap } from "@/lib/api-client/calls.gen";
import type { BodyInput } from "@/lib/contracts/contract";
import { Honesty, pictureAmount, type PrivateQuote } from "../parts";
import { ObserverCard } from "../observer/observer-card";
import type { Observed } from "../observer/scenes";
import { slippageBps } from "@/components/features/money-flow/slippage";
import { API_FIELDS, isWorse, readableAmount } from "./form-model";
import { SwapDialog, SwapReceipt, useReviewedQuote } from "./swap-dialog";
import { type PartProps, PayCard, poolOption } from "./pay-card";
import { type PrivateForm, type PrivateSetup, usePrivateForm } from "./use-private-form";

const EXAMPLE: QuoteBody = {
  chainId: 31337,
  fromToken: "USDC",
  toToken: "WETH",
  amount: "25",
  slippageBps: 50,
};

const bodyOf = ({ amount, pool, toPool, values }: PrivateForm): QuoteBody | null => {
  const bps = slippageBps(values.slippage);
  if (amount === null || pool === undefined || toPool === undefined || bps === null)
    return null;
  return {
    chainId: pool.chainId,
    fromToken: pool.token.address,
    toToken: toPool.token.address,
    amount,
    slippageBps: bps,
  };
};

const observedOf = (
  form: PrivateForm,
  walletName: string,
  quote: PrivateQuote | null,
): Observed | null => {
  const { pool, toPool, values } = form;
  if (pool === undefined) return null;
  const amount = readableAmount(values.amount, pool);
  const pending = toPool === undefined ? null : `… ${toPool.token.symbol}`;
  return {
    kind: "swap",
    stage: "planned",
    amount:
      amount === null ? `… ${pool.token.symbol}` : pictureAmount(amount, pool.token.symbol),
    arrives:
      quote === null
        ? pending
        : `≈ ${pictureAmount(quote.expected.amount, quote.expected.token.symbol)}`,
    wallet: walletName,
    recipient: walletName,
    pool: `${pool.token.symbol} pool`,
    toPool: toPool === undefined ? null : `${toPool.token.symbol} pool`,
    swapVenue: quote?.swapVenue ?? null,
    setSize: pool.anonymitySet,
  };
};

export const SwapDesk = ({ setup }: { readonly setup: PrivateSetup }): ReactNode => {
  const form = usePrivateForm("swap", setup);
  const body = bodyOf(form);
  const view = usePrivateQuote(body);
  const [reviewing, setReviewing] = useReviewedQuote(
    setup.setup.treasury?.id ?? "",
    form.values.walletId,
  );
  const wallet = setup.wallets.find(({ id }) => id === form.values.walletId);
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
        <Desk
          fields={
            <>
              <PayCard form={form} wallets={setup.wallets} setup={setup.setup} />
              <ReceiveCard form={form} />
              {observed === null ? null : <ObserverCard observed={observed} />}
            </>
          }
          receipt={
            <QuoteCard view={view} walletName={walletName} onReview={setReviewing}>
              <Honesty {...setup.balances} setSize={form.pool?.anonymitySet ?? null} />
            </QuoteCard>
          }
        />
        <ApiSnippet call={quotePrivateSwap} body={body ?? EXAMPLE} />
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

const NoQuote = ({ loading }: { readonly loading: boolean }): ReactNode =>
  loading ? (
    <LoadingRows what="the quote" />
  ) : (
    <EmptyState title="No quote yet">
      The quote shows the minimum received and the fees.
    </EmptyState>
  );

const promised = ({ minimum, expected }: PrivateQuote) => ({
  amount: expected.amount,
  minAmount: minimum.amount,
  token: expected.token,
});

const QuoteCard = ({ view, walletName, onReview, children }: QuoteCardProps): ReactNode => {
  const { quote } = view;
  const usable =
    quote !== null && !view.outdated && !view.expired && !view.loading && view.error == null;
  return (
    <Card
      title="Receipt"
      actions={quote === null ? null : <QuoteClock view={view} expiresAt={quote.expiresAt} />}
    >
      <div className="flex flex-col gap-3">
        <p role="status" className="sr-only">
          {usable
            ? `Minimum received ${quote.minimum.amount} ${quote.minimum.token.symbol}.`
            : ""}
        </p>
        {quote === null ? (
          <NoQuote loading={view.loading} />
        ) : (
          <div className={view.outdated ? "opacity-55" : undefined}>
            <SwapReceipt quote={quote} walletName={walletName} />
          </div>
        )}
        {quote === null || view.seen === null || view.outdated ? null : (
          <PriceChange
            seen={promised(view.seen)}
            fresh={promised(quote)}
            onAccept={view.accept}
          />
        )}
        <FormError money="Nothing was sent." onRetry={view.ask} />
        {usable ? (
          <>
            <Button
              variant="primary"
              size="lg"
              disabled={view.seen !== null}
              onClick={() => onReview(quote)}
            >
              Review <ArrowRight aria-hidden />
            </Button>
            <Button type="submit" loading={view.loading}>
              Refresh quote
            </Button>
          </>
        ) : (
          <Button type="submit" variant="primary" size="lg" loading={view.loading}>
            {view.expired && !view.outdated ? "Get a new quote" : "Get quote"}
          </Button>
        )}
        {children}
      </div>
    </Card>
  );
};

type QuoteBody = BodyInput<typeof quotePrivateSwap>;

interface AnsweredQuote {
  /** Identifies the request that the quote answers. */
  readonly key: string;
  readonly quote: PrivateQuote;
}

interface PrivateQuoteView extends QuoteState {
  /** The newest quote; null until the first one arrives. */
  readonly quote: PrivateQuote | null;
  /** An earlier, better quote for the same request, until the person accepts `quote`. */
  readonly seen: PrivateQuote | null;
  readonly accept: () => void;
}

/**
 * Requests a quote for the typed values when the person asks for one. A quote that is worse than an
 * earlier one for the same request must be accepted.
 */
const usePrivateQuote = (body: QuoteBody | null): PrivateQuoteView => {
  const request = useApiMutation(quotePrivateSwap);
  const [fresh, setFresh] = useState<AnsweredQuote | null>(null);
  const [accepted, setAccepted] = useState<AnsweredQuote | null>(null);
  const [requestKey, setRequestKey] = useState<string | null>(null);
  const [expiredId, setExpiredId] = useState<string | null>(null);
  const key = body === null ? null : JSON.stringify(body);
  const ask = (): void => {
    if (body === null || key === null) return;
    const onSuccess = (quote: PrivateQuote): void => {
      const answer = { key, quote };
      setFresh(answer);
      if (accepted?.key !== key || !isWorse(accepted.quote, quote)) setAccepted(answer);
    };
    setRequestKey(key);
    request.mutate({ body }, { onSuccess });
  };
  const isHeld =
    fresh !== null && accepted?.key === fresh.key && accepted.quote !== fresh.quote;
  return {
    quote: fresh?.quote ?? null,
    seen: isHeld ? accepted.quote : null,
    accept: () => setAccepted(fresh),
    outdated: fresh !== null && fresh.key !== key,
    expired: fresh !== null && fresh.quote.quoteId === expiredId,
    loading: request.isPending,
    // The error of another request does not concern the current values.
    error: requestKey === key ? request.error : null,
    ask,
    onExpire: () => setExpiredId(fresh?.quote.quoteId ?? null),
  };
};

const ReceiveCard = ({ form }: PartProps): ReactNode => {
  const chainName = useChainName();
  const others = form.pools.filter(
    (pool) => pool !== form.pool && pool.chainId === form.pool?.chainId,
  );
  return (
    <Card title="You receive" description="As a new note of the same wallet.">
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <Field label="Token to receive" error={form.errors.toPool}>
          <Combobox
            value={form.values.toPool}
            onValueChange={(pool) => form.set("toPool", pool)}
            options={others.map((pool) => poolOption(pool, chainName(pool.chainId), null))}
            placeholder="Choose a token"
            searchPlaceholder="Symbol"
            emptyText="There is no other pool on this chain."
          />
        </Field>
        <Field
          label="Slippage, %"
          error={form.errors.slippage}
          hint="Enforced on chain, as a part of the proof."
        >
          <Input
            numeric
            value={form.values.slippage}
            onChange={(event) => form.set("slippage", event.target.value)}
            onBlur={() => form.check("slippage")}
          />
        </Field>
      </div>
    </Card>
  );
};
