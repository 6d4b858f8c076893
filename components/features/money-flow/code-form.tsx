"use client";

import Link from "next/link";
import { type ReactNode, useEffect, useEffectEvent, useState } from "react";
import { z } from "zod";
import { DevCodeHint } from "@/components/features/dev-mail/dev-code-hint";
import { Button } from "@/components/ui/button";
import { describeError } from "@/components/ui/describe-error";
import { ErrorState } from "@/components/ui/states";
import { Countdown } from "@/components/ui/time";
import { codeOf } from "./api-error";
import { mailCode, mailCodeAtOpening } from "./mail-code";
import type { SentCode } from "./types";

export const codeForm = z.object({ code: z.string().regex(/^\d{6}$/, "Type all six digits.") });

export interface CodeRequest {
  /** The newest code that was sent; null before the first. */
  readonly sent: SentCode | null;
  readonly sending: boolean;
  readonly sendError: unknown;
  readonly send: () => Promise<void>;
  /**
   * The number of codes that were sent because the person requested them. Each of them clears the
   * field.
   */
  readonly clears: number;
}

interface AskedCode {
  readonly ask: () => Promise<SentCode>;
  readonly sending: boolean;
  readonly sendError: unknown;
  /**
   * Id of the record that the code approves. A code sent before a reload can still be typed
   * afterwards.
   */
  readonly keptAs: string;
}

/**
 * The only hook that mails codes. It mails a code without a click, unless an earlier code is still
 * valid.
 */
export const useCodeFormOf = ({ ask, sending, sendError, keptAs }: AskedCode): CodeRequest => {
  const [sent, setSent] = useState<SentCode | null>(null);
  const [clears, setClears] = useState(0);
  const take = async (answer: Promise<SentCode>): Promise<boolean> => {
    const code = await answer.catch(() => null);
    if (code !== null) setSent(code);
    return code !== null;
  };
  const send = async (): Promise<void> => {
    if (await take(mailCode({ keptAs, ask }))) setClears((count) => count + 1);
  };
  const open = useEffectEvent(() => {
    void take(mailCodeAtOpening({ keptAs, ask }));
  });
  useEffect(() => open(), [keptAs]);
  return { sent, sending, sendError, send, clears };
};

const SETTINGS_LINK = (
  <Link href="/settings#email" className="link">
    Verify an e-mail address in the settings
  </Link>
);

interface CodeSendErrorProps {
  readonly error: unknown;
  /** Sentence that says where the money is when no code could be sent. */
  readonly money: string;
  /** Shown when the person has no verified address; by default a link to the settings. */
  readonly missing?: ReactNode;
}

export const CodeSendError = ({
  error,
  money,
  missing = SETTINGS_LINK,
}: CodeSendErrorProps): ReactNode =>
  error == null ? null : (
    <ErrorState
      compact
      error={error}
      money={money}
      action={codeOf(error) === "otp_channel_missing" ? missing : undefined}
    />
  );

/**
 * Whether the service mailed a code a moment ago and therefore refuses to mail another one. The
 * page does not know the first code when the person left the page before the answer.
 */
export const isSentBefore = ({ sent, sendError }: CodeRequest): boolean =>
  sent === null && codeOf(sendError) === "rate_limited";

const unsentText = (error: unknown): string => {
  if (error === null) return "Sending a code …";
  return codeOf(error) === "rate_limited"
    ? describeError(error).message
    : "No code was sent now.";
};

/**
 * Says where the code was sent and until when it is valid, with the button that sends another
 * code.
 */
export const SentNotice = ({ codes }: { readonly codes: CodeRequest }): ReactNode => {
  const { sent } = codes;
  return (
    <div className="flex flex-col gap-1">
      <p className="flex min-h-6 flex-wrap items-center justify-between gap-x-3 gap-y-1">
        {sent === null ? (
          <span>{unsentText(codes.sendError)}</span>
        ) : (
          <span>
            Code sent to <strong>{sent.destination}</strong>
          </span>
        )}
        <ResendButton key={sent?.otpId} codes={codes} />
      </p>
      <DevCodeHint />
    </div>
  );
};

const ResendButton = ({ codes }: { readonly codes: CodeRequest }): ReactNode => {
  const [isReady, setIsReady] = useState(false);
  const { sent, sendError } = codes;
  if (sent === null && sendError === null) return null;
  if (isReady || sent === null)
    return (
      <Button variant="link" loading={codes.sending} onClick={() => void codes.send()}>
        Send again
      </Button>
    );
  return (
    <Countdown
      until={sent.resendAfter}
      label="Send again in"
      expiredText="Send again"
      onExpire={() => setIsReady(true)}
      className="text-sm text-fg-2"
    />
  );
};
