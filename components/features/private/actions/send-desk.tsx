"use client";

import { ArrowRight } from "lucide-react";
import { useId, useState, type ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { recipientView, type RecipientView } from "@/components/features/transfer/recipient";
import { shorten } from "@/components/ui/address";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { Card } from "@/components/ui/card";
import { Form } from "@/components/ui/form";
import { privateTransfer, shield, unshield } from "@/lib/api-client/calls.gen";
import { Honesty } from "../honesty";
import { ObserverCard } from "../observer/observer-card";
import type { PoolBalance } from "../types";
import { API_FIELDS, readableAmount, type Action } from "./form-model";
import { observedOfTerms, toMoveRequest } from "./move-request";
import { PayCard } from "./pay-card";
import { SendReceipt, type SendTerms } from "./receipt";
import { RecipientCard } from "./recipient-card";
import { ReviewDialog } from "./review-dialog";
import { isSmallSet, SmallSetAlert } from "./small-set";
import { useCreateMove } from "./use-create-move";
import { useKnownRecipients } from "./use-known-recipients";
import { usePrivateForm, type PrivateForm, type PrivateSetup } from "./use-private-form";

type SendAction = Exclude<Action, "swap">;

const CONTRACTS = { shield, transfer: privateTransfer, unshield };
const EXAMPLE = { chainId: 31337, token: "USDC", amount: "25" };

/** A name where there is one, else the address with its middle left out. */
const shortName = (recipient: RecipientView): string =>
  recipient.as === "none"
    ? ""
    : recipient.as === "own" || recipient.as === "contact"
      ? recipient.name
      : shorten(recipient.address);

const termsOf = (
  action: SendAction,
  pool: PoolBalance,
  from: { form: PrivateForm; setup: PrivateSetup; recipient: RecipientView },
): SendTerms => {
  const { form, setup, recipient } = from;
  const nameOf = (id: string): string | undefined =>
    setup.wallets.find(({ privacyWalletId }) => privacyWalletId === id)?.name;
  const inside = action === "transfer" && form.values.target === "wallet";
  return {
    action,
    pool,
    // The receipt counts with an amount also while something else is missing.
    amount: readableAmount(form.values.amount, pool),
    walletName: nameOf(form.values.walletId) ?? "Private wallet",
    recipient: action === "shield" ? { as: "none" } : recipient,
    toWalletName: inside ? (nameOf(form.values.toWalletId) ?? "Another private wallet") : null,
    treasuryAddress: setup.setup.treasury?.address,
  };
};

interface SendDeskProps {
  readonly action: SendAction;
  readonly setup: PrivateSetup;
}

/** Shield, transfer or unshield: the form, the observer's view, the receipt and the review. */
export const SendDesk = ({ action, setup }: SendDeskProps): ReactNode => {
  const form = usePrivateForm(action, setup);
  return form.pool === undefined ? (
    <Card flush>
      <EmptyState title="No chain has a privacy pool">Add `privacyPools` to a chain in the configuration.</EmptyState>
    </Card>
  ) : (
    <PoolDesk action={action} setup={setup} form={form} pool={form.pool} />
  );
};

interface PoolDeskProps extends SendDeskProps {
  readonly form: PrivateForm;
  readonly pool: PoolBalance;
}

const PoolDesk = ({ action, setup, form, pool }: PoolDeskProps): ReactNode => {
  const { known, complete } = useKnownRecipients();
  const recipient = recipientView(form.values.toAddress, known);
  const [comparedAddress, setComparedAddress] = useState<string | null>(null);
  const [reviewing, setReviewing] = useState(false);
  const move = useCreateMove();
  const { amount, values } = form;
  const terms = termsOf(action, pool, { form, setup, recipient });
  const paysAddress = action !== "shield" && terms.toWalletName === null && recipient.as !== "none";
  const compared = recipient.as !== "none" && comparedAddress === recipient.address;
  const isMistakable = paysAddress && recipient.lookAlike !== null && !compared;
  const obstacle =
    form.amount === null
      ? "Complete the form."
      : isMistakable
        ? "Compare the address first: it looks like one that you know."
        : null;
  const review = (): void => {
    move.reset();
    if (obstacle === null) setReviewing(true);
  };
  const min = setup.balances.anonymitySetMin;
  return (
    <>
      <Form
        form={form.form}
        error={move.error}
        fieldOf={API_FIELDS}
        onSubmit={review}
        aria-label={action}
        className="flex flex-col gap-4"
      >
        <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(0,7fr)_minmax(0,5fr)]">
          <div className="flex min-w-0 flex-col gap-4">
            <PayCard form={form} wallets={setup.wallets} setup={setup.setup} />
            {action === "shield" ? null : (
              <RecipientCard
                form={form}
                wallets={setup.wallets}
                recipient={recipient}
                complete={complete}
                compared={compared}
                onCompared={(is) => setComparedAddress(is && recipient.as !== "none" ? recipient.address : null)}
              />
            )}
            <ObserverCard observed={observedOfTerms(terms, shortName)} />
          </div>
          <ReceiptCard terms={terms} balances={setup.balances} obstacle={obstacle} />
        </div>
        <ApiSnippet
          method="POST"
          path={CONTRACTS[action].path}
          body={amount === null ? EXAMPLE : toMoveRequest({ action, values, pool, amount }).body}
        />
      </Form>
      {reviewing && amount !== null ? (
        <ReviewDialog
          terms={{ ...terms, amount }}
          move={move}
          min={min}
          request={(acceptsSmallSet) => toMoveRequest({ action, values, pool, amount, acceptsSmallSet })}
          onClose={() => setReviewing(false)}
        />
      ) : move.error == null ? null : (
        <ErrorState compact error={move.error} money="Nothing was sent." />
      )}
    </>
  );
};

interface ReceiptCardProps {
  readonly terms: SendTerms;
  readonly balances: PrivateSetup["balances"];
  /** Why the review cannot be opened yet; null when it can. */
  readonly obstacle: string | null;
}

/** Shows the costs of the move, how well it is hidden, and the button that goes on. */
const ReceiptCard = ({ terms, balances, obstacle }: ReceiptCardProps): ReactNode => {
  const reasonId = useId();
  const { anonymitySet } = terms.pool;
  const min = balances.anonymitySetMin;
  return (
    <Card title="Receipt" className="lg:sticky lg:top-16">
      <div className="flex flex-col gap-3">
        <SendReceipt terms={terms} />
        {terms.action === "transfer" && isSmallSet(anonymitySet, min) ? (
          <SmallSetAlert size={anonymitySet} min={min} />
        ) : null}
        <Button
          type="submit"
          variant="primary"
          size="lg"
          disabled={obstacle !== null}
          {...(obstacle === null ? {} : { "aria-describedby": reasonId })}
        >
          Review <ArrowRight aria-hidden />
        </Button>
        {obstacle === null ? null : (
          <p id={reasonId} className="text-sm text-fg-3">
            {obstacle}
          </p>
        )}
        <Honesty engine={balances.engine} setSize={anonymitySet} staysPublic={balances.staysPublic} />
      </div>
    </Card>
  );
};
