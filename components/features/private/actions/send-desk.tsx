"use client";

import { ArrowRight } from "lucide-react";
import { type ReactNode, useId, useMemo, useState } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { AddressBookField } from "@/components/features/contacts/address-book-field";
import { codeOf } from "@/components/features/money-flow/api-error";
import {
  type KnownAddresses,
  recipientView,
  type RecipientView,
  useKnownAddresses,
} from "@/components/features/transfer/recipient";
import { RecipientNotes } from "@/components/features/transfer/recipient-notes";
import { Desk } from "@/components/layout/desk";
import { shorten } from "@/components/ui/address";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { ActionError, EmptyState } from "@/components/ui/states";
import { Field } from "@/components/ui/field";
import { Form } from "@/components/ui/form";
import { RadioCards } from "@/components/ui/radio-cards";
import { Select } from "@/components/ui/select";
import { privateTransfer, shield, unshield } from "@/lib/api-client/calls.gen";
import { Honesty, type PoolBalance, type PrivacyWallet } from "../parts";
import { ObserverCard } from "../observer/observer-card";
import { usePrivateTransfers } from "../use-private";
import { type Action, API_FIELDS, readableAmount } from "./form-model";
import { observedOfTerms, toMoveRequest } from "./move-request";
import { type PartProps, PayCard } from "./pay-card";
import {
  isSmallSet,
  SendReceipt,
  type SendTerms,
  SmallSetAlert,
  SmallSetDialog,
} from "./receipt";
import {
  type MoveRequest,
  type PrivateForm,
  type PrivateSetup,
  useCreateMove,
  usePrivateForm,
} from "./use-private-form";

type SendAction = Exclude<Action, "swap">;

const CONTRACTS = { shield, transfer: privateTransfer, unshield };
const EXAMPLE = { chainId: 31337, token: "USDC", amount: "25" };

/** A name when there is one, otherwise the shortened address. */
const shortName = (recipient: RecipientView): string => {
  if (recipient.as === "none") return "";
  const isNamed = recipient.as === "own" || recipient.as === "contact";
  return isNamed ? recipient.name : shorten(recipient.address);
};

const termsOf = (
  action: SendAction,
  pool: PoolBalance,
  from: { form: PrivateForm; setup: PrivateSetup; recipient: RecipientView },
): SendTerms => {
  const { form, setup, recipient } = from;
  const nameOf = (id: string): string | undefined =>
    setup.wallets.find((wallet) => wallet.id === id)?.name;
  const inside = action === "transfer" && form.values.target === "wallet";
  return {
    action,
    pool,
    // The receipt shows the fees of an amount even while other fields are empty.
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

export const SendDesk = ({ action, setup }: SendDeskProps): ReactNode => {
  const form = usePrivateForm(action, setup);
  return form.pool === undefined ? (
    <Card flush>
      <EmptyState title="No chain has a privacy pool">
        Add `privacyPools` to a chain in the configuration.
      </EmptyState>
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
  const { known, complete } = useKnownRecipients(pool.chainId);
  const recipient = recipientView(form.values.toAddress, known);
  const [comparedAddress, setComparedAddress] = useState<string | null>(null);
  const [isAsking, setIsAsking] = useState(false);
  const move = useCreateMove();
  const { amount, values } = form;
  const request = (checkedAmount: string, acceptsSmallSet = false): MoveRequest =>
    toMoveRequest({ action, values, pool, amount: checkedAmount, acceptsSmallSet });
  const terms = termsOf(action, pool, { form, setup, recipient });
  const paysAddress =
    action !== "shield" && terms.toWalletName === null && recipient.as !== "none";
  const compared = recipient.as !== "none" && comparedAddress === recipient.address;
  const isMistakable = paysAddress && recipient.lookAlike !== null && !compared;
  const mistake = isMistakable
    ? "Compare the address first: it looks like one that you know."
    : null;
  const obstacle = form.amount === null ? "Complete the form." : mistake;
  const { anonymitySet } = pool;
  const isSmall =
    action === "transfer" && isSmallSet(anonymitySet, setup.balances.anonymitySetMin);
  /** Stores the movement and opens its review. No money moves before it is approved there. */
  const review = async (): Promise<void> => {
    move.reset();
    if (obstacle !== null || amount === null) return;
    if (isSmall) setIsAsking(true);
    else await move.create(request(amount));
  };
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
        <Desk
          fields={
            <>
              <PayCard form={form} wallets={setup.wallets} setup={setup.setup} />
              {action === "shield" ? null : (
                <RecipientCard
                  form={form}
                  wallets={setup.wallets}
                  recipient={recipient}
                  complete={complete}
                  compared={compared}
                  onCompared={(is) =>
                    setComparedAddress(is && recipient.as !== "none" ? recipient.address : null)
                  }
                />
              )}
              <ObserverCard observed={observedOfTerms(terms, shortName)} />
            </>
          }
          receipt={
            <ReceiptCard
              terms={terms}
              balances={setup.balances}
              obstacle={obstacle}
              loading={move.pending}
            />
          }
        />
        <ApiSnippet
          call={CONTRACTS[action]}
          body={amount === null ? EXAMPLE : request(amount).body}
        />
      </Form>
      <ActionError error={move.error} money={moneyAfter(move.error)} />
      <SmallSetDialog
        size={isAsking ? anonymitySet : move.smallSet}
        onClose={() => {
          setIsAsking(false);
          move.refuseSmallSet();
        }}
        onAccept={async () => {
          if (amount !== null) await move.create(request(amount, true));
        }}
      />
    </>
  );
};

interface ReceiptCardProps {
  readonly terms: SendTerms;
  readonly balances: PrivateSetup["balances"];
  /** Why the review cannot be opened yet; null when it can. */
  readonly obstacle: string | null;
  readonly loading: boolean;
}

const ReceiptCard = ({ terms, balances, obstacle, loading }: ReceiptCardProps): ReactNode => {
  const reasonId = useId();
  const { anonymitySet } = terms.pool;
  const min = balances.anonymitySetMin;
  return (
    <Card title="Receipt">
      <div className="flex flex-col gap-3">
        <SendReceipt terms={terms} />
        {terms.action === "transfer" && isSmallSet(anonymitySet, min) ? (
          <SmallSetAlert size={anonymitySet} min={min} />
        ) : null}
        <Button
          type="submit"
          variant="primary"
          size="lg"
          loading={loading}
          disabled={obstacle !== null}
          aria-describedby={obstacle === null ? undefined : reasonId}
        >
          Review <ArrowRight aria-hidden />
        </Button>
        {obstacle === null ? null : (
          <p id={reasonId} className="text-sm text-fg-3">
            {obstacle}
          </p>
        )}
        <Honesty {...balances} setSize={anonymitySet} />
      </div>
    </Card>
  );
};

interface RecipientCardProps extends PartProps {
  readonly wallets: readonly PrivacyWallet[];
  readonly recipient: RecipientView;
  readonly complete: boolean;
  readonly compared: boolean;
  readonly onCompared: (compared: boolean) => void;
}

const TARGETS = [
  {
    value: "address",
    label: "An address",
    description: "Leaves the pool. Amount and recipient are public.",
  },
  {
    value: "wallet",
    label: "A private wallet",
    description: "Stays in the pool. The recipient is hidden.",
  },
];

const RecipientCard = (props: RecipientCardProps): ReactNode => {
  const { form, wallets } = props;
  const { values } = form;
  const others = wallets.filter(({ id }) => id !== values.walletId);
  return (
    <Card title="To">
      <div className="flex flex-col gap-3">
        {form.action === "transfer" ? (
          <RadioCards
            label="Pay to"
            inRow
            value={values.target}
            onValueChange={(target) => form.set("target", target)}
            options={TARGETS}
          />
        ) : null}
        {form.action === "transfer" && values.target === "wallet" ? (
          <Field
            label="Private wallet"
            error={form.errors.toWalletId}
            hint={
              others.length === 0
                ? "There is no other one yet. Create it on the private page."
                : undefined
            }
          >
            <Select
              value={values.toWalletId}
              onValueChange={(id) => form.set("toWalletId", id)}
              disabled={others.length === 0}
              options={others.map(({ id, name }) => ({ value: id, label: name }))}
              placeholder="Choose …"
            />
          </Field>
        ) : (
          <AddressField {...props} />
        )}
      </div>
    </Card>
  );
};

const AddressField = ({ form, recipient, ...notes }: RecipientCardProps): ReactNode => {
  const isOptional = form.action === "unshield";
  const isTyped = form.values.toAddress.trim() !== "";
  const isUnsaved = recipient.as === "new" || recipient.as === "earlier";
  return (
    <AddressBookField
      label={isOptional ? "Recipient, optional" : "Recipient"}
      error={form.errors.toAddress}
      hint={isOptional && !isTyped ? "Empty: the treasury." : undefined}
      input={{
        value: form.values.toAddress,
        onChange: (event) => form.set("toAddress", event.target.value),
        onBlur: () => (isTyped ? form.check("toAddress") : undefined),
      }}
      onChoose={(address) => form.set("toAddress", address)}
      // An address that can be mistaken for a known one is not offered for saving.
      newAddress={isUnsaved && recipient.lookAlike === null ? recipient.address : undefined}
      notes={(openBook) => <RecipientNotes view={recipient} {...notes} onSave={openBook} />}
    />
  );
};

const moneyAfter = (error: unknown): string =>
  codeOf(error) === "network_error"
    ? "Whether it was accepted is not known. Trying again is safe: the money moves once."
    : "Nothing was sent.";

/** The project's known addresses, and the recipients of the newest private operations. */
const useKnownRecipients = (chainId: number): KnownAddresses => {
  const { known, complete } = useKnownAddresses(chainId);
  const transfers = usePrivateTransfers();
  const paid = transfers.data?.pages.flatMap(({ data }) => data);
  return useMemo(() => {
    const addresses = (paid ?? []).flatMap(({ toAddress, status }) =>
      toAddress !== null &&
      (status === "completed" || status === "partially_completed" || status === "processing")
        ? [toAddress]
        : [],
    );
    const earlier = [...new Set(addresses)].map((address) => {
      const times = addresses.filter((each) => each === address).length;
      return {
        address,
        name: times === 1 ? "once in private" : `${String(times)} times in private`,
        as: "earlier" as const,
      };
    });
    return { known: [...known, ...earlier], complete: complete && !transfers.isPending };
  }, [known, complete, paid, transfers.isPending]);
};
