"use client";

import type { ReactNode } from "react";
import { useController } from "react-hook-form";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { AmountEntry, HeldAside } from "@/components/features/money-flow/amount-entry";
import { EmailNotice } from "@/components/features/money-flow/email-notice";
import { useAcceptedImpact } from "@/components/features/money-flow/price-notices";
import { shortageOf } from "@/components/features/money-flow/spendable";
import { useMoveFlow } from "@/components/features/money-flow/use-move-flow";
import { MoveDialog } from "@/components/features/money-flow/move-dialog";
import { assetsOf } from "@/components/features/swap/tokens";
import { type SwapSetup, useSwapSetup } from "@/components/features/swap/use-swap-setup";
import { walletName, walletOption } from "@/components/features/wallets/use-wallets";
import { Desk, DeskSkeleton } from "@/components/layout/desk";
import { Card } from "@/components/ui/card";
import { Combobox } from "@/components/ui/combobox";
import { Field } from "@/components/ui/field";
import { Form } from "@/components/ui/form";
import { chainOption, tokenOption } from "@/components/ui/marks";
import { PageHeader } from "@/components/ui/page-header";
import { Select } from "@/components/ui/select";
import { QueryPanel } from "@/components/ui/states";
import { createTransfer } from "@/lib/api-client/calls.gen";
import { readAmount } from "@/lib/core/read-amount";
import { type FieldErrors, fieldErrorsOf, tokenOf } from "./form-model";
import { PriceCard, useTransfer } from "./price-card";
import { chainIdOf, type Recipient, RecipientField, useRecipient } from "./recipient-field";
import { reviveTransfer, subjectOfTransfer } from "./transfer-subject";
import { type TransferForm, useTransferForm } from "./use-transfer-form";

export const Transfer = (): ReactNode => {
  const setup = useSwapSetup();
  return (
    <>
      <PageHeader
        title="Transfer"
        description="Send a token to an address, on one chain or across two."
      />
      <QueryPanel
        query={setup}
        what="wallets and tokens"
        loading={<DeskSkeleton what="wallets and tokens" />}
      >
        {(data) => <TransferDesk setup={data} />}
      </QueryPanel>
    </>
  );
};

/** Request body of the example call until the form is complete. */
const EXAMPLE_BODY = {
  fromWalletId: "wal_…",
  fromChainId: 31337,
  toChainId: 31338,
  token: "USDC",
  amount: "12.5",
  toAddress: "0x…",
};

const TransferDesk = ({ setup }: { readonly setup: SwapSetup }): ReactNode => {
  const transfer = useTransferForm(setup);
  const accepted = useAcceptedImpact(transfer.body);
  const view = useTransfer(accepted.body);
  const serverErrors = fieldErrorsOf(view.error);
  const recipient = useRecipient(
    transfer.values.toAddress,
    chainIdOf(transfer.values.toChainId),
  );
  const token = tokenOf(setup.tokens, transfer.values.assetId, transfer.values.fromChainId);
  const shortage = shortageOf([
    {
      ...transfer.spendable,
      symbol: token?.symbol ?? "",
      requested: readAmount(transfer.values.amount),
    },
  ]);
  const flow = useMoveFlow({
    kept: {
      key: "causeway.transfer.flow",
      revive: (stored) => reviveTransfer(stored, setup.wallets),
    },
    onDone: () => transfer.form.resetField("amount", { defaultValue: "" }),
  });
  return (
    <>
      <Form form={transfer.form} onSubmit={view.ask} aria-label="Transfer">
        <Desk
          fields={
            <>
              <EmailNotice />
              <FromCard setup={setup} transfer={transfer} serverErrors={serverErrors.fields} />
              <ToCard
                setup={setup}
                transfer={transfer}
                serverErrors={serverErrors.fields}
                recipient={recipient}
              />
              <ApiSnippet call={createTransfer} body={accepted.body ?? EXAMPLE_BODY} />
            </>
          }
          receipt={
            <PriceCard
              view={view}
              shortage={shortage}
              showError={serverErrors.rest !== null}
              onAcceptImpact={accepted.accept}
              obstacle={recipient.obstacle}
              said={recipient.said}
              onReview={(made) =>
                flow.start(
                  subjectOfTransfer(made, {
                    fromName:
                      transfer.wallet === undefined ? "Wallet" : walletName(transfer.wallet),
                    recipient: recipient.view,
                  }),
                )
              }
            />
          }
        />
      </Form>
      <MoveDialog
        flow={flow}
        onNewQuote={() => {
          flow.close();
          view.ask();
        }}
      />
    </>
  );
};

interface ToCardProps extends PartProps {
  readonly recipient: Recipient;
}

const ToCard = ({ setup, transfer, serverErrors, recipient }: ToCardProps): ReactNode => {
  const { values } = transfer;
  const { errors } = transfer.form.formState;
  const asset = assetsOf(setup.tokens).find((one) => one.assetId === values.assetId);
  return (
    <Card title="They receive">
      <div className="flex flex-col gap-3">
        <Field label="To chain" error={errors.toChainId?.message ?? serverErrors.toChainId}>
          <Select
            value={values.toChainId}
            onValueChange={(chainId) => transfer.choose("toChainId", chainId)}
            options={setup.chains.map((chain) => {
              const there = asset === undefined || asset.chainIds.includes(String(chain.id));
              return {
                ...chainOption(chain),
                label: there ? chain.name : `${chain.name} (no ${asset.symbol} there)`,
                disabled: !there,
              };
            })}
            placeholder="Choose …"
          />
        </Field>
        <RecipientField
          recipient={recipient}
          error={errors.toAddress?.message ?? serverErrors.toAddress}
          input={transfer.form.register("toAddress")}
          onChoose={(address) => transfer.choose("toAddress", address)}
        />
      </div>
    </Card>
  );
};

interface PartProps {
  readonly setup: SwapSetup;
  readonly transfer: TransferForm;
  readonly serverErrors: FieldErrors;
}

const FromCard = ({ setup, transfer, serverErrors }: PartProps): ReactNode => {
  const { values } = transfer;
  const { errors } = transfer.form.formState;
  const asset = assetsOf(setup.tokens).find((one) => one.assetId === values.assetId);
  return (
    <Card title="You send">
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-[minmax(0,2fr)_minmax(0,1fr)_minmax(0,1fr)]">
        <Field
          className="max-sm:col-span-2"
          label="Wallet"
          error={errors.walletId?.message ?? serverErrors.walletId}
        >
          <Select
            value={values.walletId}
            onValueChange={(walletId) => transfer.choose("walletId", walletId)}
            options={setup.wallets.map((wallet) => ({
              ...walletOption(wallet),
              value: wallet.id,
            }))}
            placeholder="Choose …"
          />
        </Field>
        <Field
          label="From chain"
          error={errors.fromChainId?.message ?? serverErrors.fromChainId}
        >
          <Combobox
            options={setup.chains
              .filter(
                (chain) => asset === undefined || asset.chainIds.includes(String(chain.id)),
              )
              .map((chain) => {
                const held = transfer.held(values.assetId, String(chain.id));
                return {
                  ...chainOption(chain),
                  keywords: [chain.name],
                  aside:
                    held === null ? undefined : (
                      <HeldAside amount={held} symbol={asset?.symbol ?? ""} />
                    ),
                };
              })}
            value={values.fromChainId}
            onValueChange={(chainId) => transfer.choose("fromChainId", chainId)}
            searchPlaceholder="Chain"
            emptyText="The token is not on such a chain."
          />
        </Field>
        <Field label="Token" error={errors.assetId?.message ?? serverErrors.assetId}>
          <Combobox
            options={transfer.assets.map((one) => {
              const held = transfer.held(one.assetId);
              return {
                ...tokenOption(one.symbol, one.assetId),
                description: one.name,
                keywords: [one.symbol, one.name],
                aside:
                  held === null ? undefined : <HeldAside amount={held} symbol={one.symbol} />,
              };
            })}
            value={values.assetId}
            onValueChange={transfer.chooseAsset}
            placeholder="Choose a token"
            searchPlaceholder="Symbol or name"
            emptyText="No such token."
          />
        </Field>
        <div className="col-span-full">
          <AmountField
            setup={setup}
            transfer={transfer}
            error={errors.amount?.message ?? serverErrors.amount}
          />
        </div>
      </div>
    </Card>
  );
};

interface AmountFieldProps extends Pick<PartProps, "setup" | "transfer"> {
  readonly error: string | undefined;
}

const AmountField = ({ setup, transfer, error }: AmountFieldProps): ReactNode => {
  const { values, wallet } = transfer;
  const { field } = useController({ control: transfer.form.control, name: "amount" });
  const token = tokenOf(setup.tokens, values.assetId, values.fromChainId);
  const paysGas =
    token?.address === "native" && wallet?.signer === "owner" && wallet.kind === "linked";
  return (
    <AmountEntry
      label="Amount"
      maxLabel="Use all"
      value={field.value}
      onChange={field.onChange}
      onChoose={(text) => transfer.choose("amount", text)}
      onBlur={field.onBlur}
      name={field.name}
      inputRef={field.ref}
      token={token}
      spendable={transfer.spendable}
      error={error}
      note={paysGas ? <span>This wallet pays its own gas; leave some for it.</span> : undefined}
    />
  );
};
