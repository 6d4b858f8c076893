"use client";

import { ChevronDown, TriangleAlert } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { slippageBps } from "@/components/features/money-flow/slippage";
import { useNames } from "@/components/features/names/names";
import { type Recipient, RecipientField } from "@/components/features/transfer/recipient-field";
import { AddressMark, shorten } from "@/components/ui/address";
import { Amount, Unknown, Worth } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { BareField, Field, FieldError, Input } from "@/components/ui/field";
import { AmountsShownProvider } from "@/components/ui/hidden-amounts";
import { percentText, usdValue } from "./decimal";
import { findToken, SLIPPAGE_WARNING_BPS } from "./form-model";
import { MoneyRow } from "./money-row";
import { RateText } from "./quote-facts";
import type { ServerErrors } from "./source-row";
import { chainNameOf, targetChoices, targetKey, targetOfKey } from "./token-choices";
import { TokenChooser } from "./token-chooser";
import type { Quote } from "./tokens";
import type { SwapForm } from "./use-swap-form";
import type { SwapSetup } from "./use-swap-setup";

interface DestinationCardProps {
  readonly setup: SwapSetup;
  readonly swap: SwapForm;
  readonly serverErrors: ServerErrors;
  readonly recipient: Recipient;
  /** The quote for the form as it is now; null while there is none. */
  readonly quote: Quote | null;
}

export const DestinationCard = (props: DestinationCardProps): ReactNode => {
  const { swap, serverErrors, recipient, quote } = props;
  const { errors } = swap.form.formState;
  const recipientError = errors.toAddress?.message ?? serverErrors.toAddress;
  const panel = useRecipientPanel(recipient, recipientError);
  return (
    <Card
      title={recipient.view.as === "own" ? "You receive" : "They receive"}
      flush
      actions={quote === null ? null : <RateText quote={quote} />}
    >
      <Target {...props} panel={panel} />
      <div id={panel.id} hidden={!panel.isOpen} className="px-4 pb-3">
        {panel.isOpen ? (
          <RecipientField
            recipient={recipient}
            error={recipientError}
            input={swap.form.register("toAddress")}
            onChoose={(address) => swap.choose("toAddress", address)}
            ownIsUsual
          />
        ) : null}
      </div>
      <Slippage
        swap={swap}
        quote={quote}
        error={errors.slippage?.message ?? serverErrors.slippageBps}
      />
    </Card>
  );
};

interface RecipientPanel {
  readonly id: string;
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

/**
 * State of the field of the recipient. The field opens by itself when the recipient needs
 * attention, and the person can close it only when the recipient needs none.
 */
const useRecipientPanel = (
  { view, complete }: Recipient,
  error: string | undefined,
): RecipientPanel => {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const isLookedUp = view.as !== "new" || complete;
  const isSettled =
    view.as === "own" || view.as === "contact" || (view.as === "earlier" && complete);
  const isUsual = isSettled && view.lookAlike === null && error === undefined;
  if (isLookedUp && !isUsual && !isOpen) setOpen(true);
  return { id, isOpen, toggle: () => setOpen(!isOpen || !isUsual) };
};

interface TargetProps extends DestinationCardProps {
  readonly panel: RecipientPanel;
}

const Target = (props: TargetProps): ReactNode => {
  const { setup, swap, serverErrors, recipient, quote, panel } = props;
  const { values } = swap;
  const { errors } = swap.form.formState;
  const id = useId();
  const token = findToken(setup.tokens, values.toChainId, values.toToken);
  const chosen =
    token === undefined
      ? null
      : { symbol: token.symbol, chainName: chainNameOf(setup, values.toChainId) };
  const error =
    errors.toToken?.message ??
    errors.toChainId?.message ??
    serverErrors.toToken ??
    serverErrors.toChainId;
  const own = recipient.view.as === "own" ? recipient.view.address : null;
  return (
    <MoneyRow
      mark={chosen}
      chooser={
        <BareField id={id} label="Destination token" error={error}>
          <TokenChooser
            chosen={chosen}
            chosenKey={targetKey({ chainId: values.toChainId, token: values.toToken })}
            choicesOf={() => targetChoices(setup, own)}
            onChoose={(key) => {
              const target = targetOfKey(setup.tokens, key);
              if (target !== undefined) swap.chooseTarget(target);
            }}
            searchPlaceholder="Token, chain or address"
          />
        </BareField>
      }
      amount={
        <AmountsShownProvider value>
          <span className="text-xl font-medium">
            {quote === null ? (
              <Unknown reason="Known once it is priced" />
            ) : (
              <Amount value={quote.to.amount} symbol={quote.to.token.symbol} />
            )}
          </span>
        </AmountsShownProvider>
      }
      below={<RecipientLine recipient={recipient} panel={panel} />}
      worth={
        quote === null || token?.priceUsd == null ? null : (
          <AmountsShownProvider value>
            <Worth value={usdValue(quote.to.amount, token.priceUsd)} />
          </AmountsShownProvider>
        )
      }
    >
      <FieldError id={id}>{error}</FieldError>
    </MoneyRow>
  );
};

const LINE_LOOKS =
  "-mx-1.5 inline-flex min-h-6 max-w-full min-w-0 items-center gap-1.5 rounded-control px-1.5 hover:bg-sunken touch-target";

interface RecipientLineProps {
  readonly recipient: Recipient;
  readonly panel: RecipientPanel;
}

/** The recipient on one line. A click opens or closes the field of the recipient. */
const RecipientLine = ({ recipient: { view }, panel }: RecipientLineProps): ReactNode => {
  const { ofAddress } = useNames();
  const name = view.as === "none" ? undefined : ofAddress(view.address);
  return (
    <button
      type="button"
      className={LINE_LOOKS}
      aria-expanded={panel.isOpen}
      aria-controls={panel.id}
      onClick={panel.toggle}
    >
      <span className="sr-only">To </span>
      {view.as === "none" ? (
        "Choose a recipient"
      ) : (
        <>
          <AddressMark value={view.address} className="size-3.5" />
          {name === undefined ? null : <span className="truncate">{name}</span>}{" "}
          <code className="font-mono text-xs text-fg-3">{shorten(view.address)}</code>
        </>
      )}
      <Chevron isOpen={panel.isOpen} />
    </button>
  );
};

const Chevron = ({ isOpen }: { readonly isOpen: boolean }): ReactNode => (
  <ChevronDown
    aria-hidden
    className={cn(
      "size-4 shrink-0 text-fg-3 transition-transform duration-150",
      isOpen && "rotate-180",
    )}
  />
);

interface SlippageProps {
  readonly swap: SwapForm;
  readonly quote: Quote | null;
  readonly error: string | undefined;
}

/** The accepted slippage on one line. A click opens the choices. */
const Slippage = ({ swap, quote, error }: SlippageProps): ReactNode => {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  if (error !== undefined && !isOpen) setOpen(true);
  const bps = slippageBps(swap.values.slippage);
  const isHigh = bps !== null && bps > SLIPPAGE_WARNING_BPS;
  return (
    <div className="border-t">
      <div className="flex flex-wrap items-center justify-between gap-x-4 px-4 py-1.5 text-sm text-fg-2">
        <button
          type="button"
          className={cn(LINE_LOOKS, isHigh && "text-warning")}
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen || error !== undefined)}
        >
          {isHigh ? <TriangleAlert className="size-3.5 shrink-0" aria-hidden /> : null}
          Slippage {bps === null ? "–" : percentText(bps)}
          <Chevron isOpen={isOpen} />
        </button>
        <OracleDistance bps={quote?.oracleImpactBps ?? null} />
      </div>
      <div id={id} hidden={!isOpen} className="px-4 pb-3">
        {isOpen ? <SlippageField swap={swap} bps={bps} isHigh={isHigh} error={error} /> : null}
      </div>
    </div>
  );
};

/** How far the quote is from the price feeds that are independent of the pools. */
const OracleDistance = ({ bps }: { readonly bps: number | null }): ReactNode =>
  bps === null ? null : (
    <span className="num text-fg-3">
      {percentText(Math.abs(bps))} {bps < 0 ? "above" : "below"} the oracle price
    </span>
  );

const PRESETS = ["0.1", "0.5", "1"];

interface SlippageFieldProps {
  readonly swap: SwapForm;
  readonly bps: number | null;
  readonly isHigh: boolean;
  readonly error: string | undefined;
}

const SlippageField = ({ swap, bps, isHigh, error }: SlippageFieldProps): ReactNode => (
  <Field
    label="Slippage (%)"
    error={error}
    hint={
      isHigh && bps !== null && error === undefined ? (
        <span className="flex items-start gap-1 text-warning">
          <TriangleAlert className="mt-0.5 size-3.5 shrink-0" aria-hidden />
          High: you accept up to {percentText(bps)} less than quoted.
        </span>
      ) : (
        "The chain enforces it: less than the minimum is never received."
      )
    }
  >
    <div className="flex flex-wrap items-center gap-1">
      <Input numeric className="w-24" {...swap.form.register("slippage")} />
      {PRESETS.map((preset) => (
        <Button
          key={preset}
          size="sm"
          variant={swap.values.slippage.trim() === preset ? "secondary" : "ghost"}
          aria-label={`Slippage ${preset} %`}
          aria-pressed={swap.values.slippage.trim() === preset}
          onClick={() => swap.choose("slippage", preset)}
        >
          {preset} %
        </Button>
      ))}
    </div>
  </Field>
);
