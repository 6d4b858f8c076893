"use client";

import type { ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { useAcceptedImpact } from "@/components/features/money-flow/refused-price";
import { EmailNotice } from "@/components/features/money-flow/email-notice";
import { shortageOf } from "@/components/features/money-flow/spendable";
import { Desk } from "@/components/layout/desk";
import { MoveDialog } from "@/components/features/money-flow/move-dialog";
import { useMoveFlow } from "@/components/features/money-flow/use-move-flow";
import type { SwapSetup } from "@/components/features/swap/use-swap-setup";
import { walletName } from "@/components/features/wallets/wallet-name";
import { Form } from "@/components/ui/form";
import { createTransfer } from "@/lib/api-client/calls.gen";
import { readAmount } from "@/lib/core/read-amount";
import { tokenOf } from "./form-model";
import { FromCard } from "./from-card";
import { PriceCard } from "./price-card";
import { ToCard } from "./to-card";
import { reviveTransfer, subjectOfTransfer } from "./transfer-subject";
import { useRecipient } from "./use-recipient";
import { useTransfer } from "./use-transfer";
import { useTransferForm } from "./use-transfer-form";

/** Stands in the snippet until the form is complete. */
const EXAMPLE_BODY = {
  fromWalletId: "wal_…",
  fromChainId: 31337,
  toChainId: 31338,
  token: "USDC",
  amount: "12.5",
  toAddress: "0x…",
};

/** The form, its quote, and the dialog that approves and executes it. */
export const TransferDesk = ({ setup }: { readonly setup: SwapSetup }): ReactNode => {
  const transfer = useTransferForm(setup);
  const accepted = useAcceptedImpact(transfer.body);
  const view = useTransfer(accepted.body);
  const recipient = useRecipient(transfer.values.toAddress);
  const token = tokenOf(setup.tokens, transfer.values.assetId, transfer.values.fromChainId);
  const shortage =
    token === undefined
      ? null
      : shortageOf([{ ...transfer.spendable, symbol: token.symbol, asked: readAmount(transfer.values.amount) }]);
  const flow = useMoveFlow({
    kept: { key: "causeway.transfer.flow", revive: (stored) => reviveTransfer(stored, setup.wallets) },
    onDone: () => transfer.form.resetField("amount", { defaultValue: "" }),
  });
  return (
    <>
      <Form form={transfer.form} onSubmit={view.make} aria-label="Transfer">
        <Desk
          fields={
            <>
              <EmailNotice />
              <FromCard setup={setup} transfer={transfer} serverErrors={view.fieldErrors.fields} />
              <ToCard setup={setup} transfer={transfer} serverErrors={view.fieldErrors.fields} recipient={recipient} />
              <ApiSnippet
                method={createTransfer.method}
                path={createTransfer.path}
                body={accepted.body ?? EXAMPLE_BODY}
              />
            </>
          }
          receipt={
            <PriceCard
              view={view}
              shortage={shortage}
              onAcceptImpact={accepted.accept}
              obstacle={recipient.obstacle}
              onReview={(made) =>
                flow.start(
                  subjectOfTransfer(made, {
                    fromName: transfer.wallet === undefined ? "Wallet" : walletName(transfer.wallet),
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
          view.make();
        }}
      />
    </>
  );
};
