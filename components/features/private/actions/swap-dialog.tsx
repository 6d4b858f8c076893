"use client";

import { useRouter } from "next/navigation";
import { useId, type ReactNode } from "react";
import { codeOf } from "@/components/features/money-flow/api-error";
import {
  CodeSendError,
  SentCodeField,
  useCodeForm,
  type CodeRequest,
} from "@/components/features/money-flow/code-form";
import {
  AppCodeField,
  isReady,
  MeansField,
  PasskeyField,
  proofOf,
  useProofChoice,
  type ProofChoice,
} from "@/components/features/money-flow/proof-field";
import type { MoneyProof } from "@/components/features/money-flow/types";
import { useApiMutation } from "@/components/features/session/use-api";
import { useSentOnce } from "@/components/features/session/use-sent-once";
import { Button } from "@/components/ui/button";
import { Countdown } from "@/components/ui/countdown";
import { Dialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { Form } from "@/components/ui/form";
import { executePrivateSwap, preparePrivateSwap } from "@/lib/api-client/calls.gen";
import { pathOfTransfer } from "../kind-words";
import type { PrivateQuote, PrivateTransfer } from "../types";
import { useTakeOver } from "../use-private";
import { dropDraft } from "./draft";
import { dropKeptQuote } from "./kept-quote";
import { SwapReceipt } from "./swap-receipt";

/** After these the quote is of no use any more. */
const ENDED_QUOTE: ReadonlySet<string | null> = new Set(["quote_expired", "quote_already_used", "not_found"]);

interface SwapDialogProps {
  readonly quote: PrivateQuote;
  /** The private wallet that pays and receives. */
  readonly wallet: { readonly id: string; readonly name: string };
  readonly onNewQuote: () => void;
  readonly onClose: () => void;
}

/** Prepares with a code or second factor, or with the choice of the wallet alone, then executes; once. */
const useExecution = ({ quote: { quoteId }, wallet }: SwapDialogProps) => {
  const prepare = useApiMutation(preparePrivateSwap);
  const { mutation, send } = useSentOnce(executePrivateSwap);
  /** Null where the service refused it; `error` says why. */
  const run = async (proof: MoneyProof | null): Promise<PrivateTransfer | null> => {
    mutation.reset();
    const body = { quoteId, privacyWalletId: wallet.id, ...proof };
    try {
      await prepare.mutateAsync({ body });
      return await send({ body: { quoteId } });
    } catch {
      return null;
    }
  };
  return { run, pending: prepare.isPending || mutation.isPending, error: prepare.error ?? mutation.error };
};

/** The review of a quote: a code lets it run at once; without one it waits for approval on its page. */
export const SwapDialog = (props: SwapDialogProps): ReactNode => {
  const { quote, wallet, onClose, onNewQuote } = props;
  const router = useRouter();
  const takeOver = useTakeOver();
  const subject = { quoteId: quote.quoteId };
  const codes = useCodeForm(subject);
  const choice = useProofChoice(codes.clear);
  const { run, pending, error } = useExecution(props);
  const formId = useId();
  const execute = async (proof: MoneyProof | null): Promise<void> => {
    const transfer = await run(proof);
    if (transfer === null) {
      codes.clear();
      return;
    }
    dropDraft("swap");
    dropKeptQuote();
    takeOver(transfer);
    router.push(proof === null ? `${pathOfTransfer(transfer)}?approve=true` : pathOfTransfer(transfer));
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title="Review the private swap"
      description={
        <Countdown until={quote.expiresAt} label="This quote expires in" expiredText="This quote has expired" />
      }
      footer={
        <Buttons codes={codes} choice={choice} formId={formId} pending={pending} onLater={() => void execute(null)} />
      }
    >
      <Form
        id={formId}
        form={codes.form}
        onSubmit={({ code }) => execute(proofOf(choice.means, code))}
        className="flex flex-col gap-4"
      >
        <SwapReceipt quote={quote} walletName={wallet.name} whole />
        <MeansField choice={choice} />
        {choice.means === "passkey" ? (
          <PasskeyField subject={subject} busy={pending} money="Nothing was sent." onApprove={execute} />
        ) : choice.means === "app" ? (
          <AppCodeField codes={codes} disabled={pending} />
        ) : (
          <MailedCode codes={codes} disabled={pending} />
        )}
        {error === null ? null : (
          <ErrorState
            compact
            error={error}
            money={moneyOf(error)}
            {...(ENDED_QUOTE.has(codeOf(error)) ? { action: <NewQuote onClick={onNewQuote} /> } : {})}
          />
        )}
      </Form>
    </Dialog>
  );
};

const MailedCode = ({ codes, disabled }: { readonly codes: CodeRequest; readonly disabled: boolean }): ReactNode => (
  <>
    {codes.sent === null ? (
      <p className="text-sm text-fg-2">
        A code approves exactly this swap. Without one it is stored and waits for approval.
      </p>
    ) : (
      <SentCodeField codes={codes} sent={codes.sent} disabled={disabled} />
    )}
    <CodeSendError error={codes.sendError} money="Nothing was sent." />
  </>
);

interface ButtonsProps {
  readonly codes: CodeRequest;
  readonly choice: ProofChoice;
  readonly formId: string;
  readonly pending: boolean;
  /** Stores the swap so that it can be approved with a code later. */
  readonly onLater: () => void;
}

const Buttons = ({ codes, choice, formId, pending, onLater }: ButtonsProps): ReactNode => (
  <>
    <Button disabled={pending} onClick={onLater}>
      Approve later
    </Button>
    {choice.means === "passkey" ? null : choice.means === "code" && codes.sent === null ? (
      <Button variant="primary" loading={codes.sending} onClick={() => void codes.send()}>
        Send code
      </Button>
    ) : (
      <Button type="submit" form={formId} variant="primary" loading={pending} disabled={!isReady(choice, codes)}>
        Execute swap
      </Button>
    )}
  </>
);

const moneyOf = (error: unknown): string =>
  codeOf(error) === "network_error"
    ? "Whether it was accepted is not known. Executing again is safe: the money moves once."
    : "Nothing was sent.";

const NewQuote = ({ onClick }: { readonly onClick: () => void }): ReactNode => (
  <Button size="sm" onClick={onClick}>
    Get a new quote
  </Button>
);
