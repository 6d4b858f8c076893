"use client";

import Link from "next/link";
import { useRouter } from "next/navigation";
import { useId, useState, type ReactNode } from "react";
import { codeOf } from "@/components/features/money-flow/api-error";
import { CodeEntry } from "@/components/features/money-flow/code-entry";
import type { SentCode } from "@/components/features/money-flow/types";
import { useApiMutation } from "@/components/features/session/use-api";
import { useSentOnce } from "@/components/features/session/use-sent-once";
import { Button } from "@/components/ui/button";
import { Countdown } from "@/components/ui/countdown";
import { Dialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { executePrivateSwap, preparePrivateSwap } from "@/lib/contracts/privacy-swap";
import { requestOtp } from "@/lib/contracts/swap";
import { pathOfTransfer } from "../kind-words";
import type { PrivateQuote, PrivateTransfer } from "../types";
import { useTakeOver } from "../use-private";
import { dropDraft } from "./draft";
import { SwapReceipt } from "./swap-receipt";

const CODE_DIGITS = 6;
/** The code itself was not taken; another has to be typed. */
const REFUSED_CODE: ReadonlySet<string | null> = new Set(["otp_invalid", "otp_expired", "otp_attempts_exceeded"]);
const ENDED_QUOTE: ReadonlySet<string | null> = new Set(["quote_expired", "quote_already_used", "not_found"]);

interface SwapDialogProps {
  readonly quote: PrivateQuote;
  /** The private wallet that pays and receives. */
  readonly wallet: { readonly id: string; readonly name: string };
  readonly onNewQuote: () => void;
  readonly onClose: () => void;
}

/** Prepares with a code, or with the choice of the wallet alone, then executes; once. */
const useExecution = ({ quote: { quoteId }, wallet }: SwapDialogProps) => {
  const prepare = useApiMutation(preparePrivateSwap);
  const { mutation, send } = useSentOnce(executePrivateSwap);
  /** Null where the service refused it; `error` says why. */
  const run = async (otp: string | null): Promise<PrivateTransfer | null> => {
    mutation.reset();
    const body = { quoteId, privacyWalletId: wallet.id, ...(otp === null ? {} : { otp }) };
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
  const otp = useApiMutation(requestOtp);
  const { run, pending, error } = useExecution(props);
  const [sent, setSent] = useState<SentCode | null>(null);
  const [code, setCode] = useState("");
  const formId = useId();
  const send = async (): Promise<void> => {
    const answer = await otp.mutateAsync({ body: { quoteId: quote.quoteId } }).catch(() => null);
    if (answer === null) return;
    setSent(answer);
    setCode("");
  };
  const execute = async (withCode: string | null): Promise<void> => {
    const transfer = await run(withCode);
    if (transfer === null) {
      setCode("");
      return;
    }
    dropDraft("swap");
    takeOver(transfer);
    router.push(withCode === null ? `${pathOfTransfer(transfer)}?approve=true` : pathOfTransfer(transfer));
  };
  const hasEnded = ENDED_QUOTE.has(codeOf(error));
  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title="Review the private swap"
      description={
        <Countdown until={quote.expiresAt} label="This quote expires in" expiredText="This quote has expired" />
      }
      footer={
        <>
          <Button disabled={pending} onClick={() => void execute(null)}>
            Approve later
          </Button>
          {sent === null ? (
            <Button variant="primary" loading={otp.isPending} onClick={() => void send()}>
              Send code
            </Button>
          ) : (
            <Button
              type="submit"
              form={formId}
              variant="primary"
              loading={pending}
              disabled={code.length !== CODE_DIGITS}
            >
              Execute swap
            </Button>
          )}
        </>
      }
    >
      <form
        id={formId}
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (code.length === CODE_DIGITS) void execute(code);
        }}
      >
        <SwapReceipt quote={quote} walletName={wallet.name} whole />
        {sent === null ? (
          <p className="text-sm text-fg-2">
            A code approves exactly this swap. Without one it is stored and waits for approval.
          </p>
        ) : (
          <CodeEntry
            sent={sent}
            code={code}
            onChange={setCode}
            onResend={() => void send()}
            sending={otp.isPending}
            disabled={pending}
          />
        )}
        {otp.error === null ? null : <CodeError error={otp.error} />}
        {error === null ? null : (
          <ErrorState
            compact
            error={error}
            money={REFUSED_CODE.has(codeOf(error)) ? "Nothing was sent." : moneyOf(error)}
            {...(hasEnded ? { action: <NewQuote onClick={onNewQuote} /> } : {})}
          />
        )}
      </form>
    </Dialog>
  );
};

const moneyOf = (error: unknown): string =>
  codeOf(error) === "network_error"
    ? "Whether it was accepted is not known. Executing again is safe: the money moves once."
    : "Nothing was sent.";

const NewQuote = ({ onClick }: { readonly onClick: () => void }): ReactNode => (
  <Button size="sm" onClick={onClick}>
    Get a new quote
  </Button>
);

const CodeError = ({ error }: { readonly error: unknown }): ReactNode => (
  <ErrorState
    compact
    error={error}
    money="Nothing was sent."
    {...(codeOf(error) === "otp_channel_missing"
      ? {
          action: (
            <Link href="/settings#email" className="link">
              Verify an e-mail address in the settings
            </Link>
          ),
        }
      : {})}
  />
);
