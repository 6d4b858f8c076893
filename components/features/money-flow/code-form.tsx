"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import Link from "next/link";
import { type ReactNode, useEffect, useState } from "react";
import { useController, useForm, type UseFormReturn } from "react-hook-form";
import { z } from "zod";
import { DevCodeHint } from "@/components/features/dev-mail/dev-code-hint";
import { useApiMutation } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { Field } from "@/components/ui/field";
import { OtpInput } from "@/components/ui/otp-input";
import { ErrorState } from "@/components/ui/states";
import { tabStore } from "@/components/ui/tab-store";
import { Countdown } from "@/components/ui/time";
import type { BodyInput } from "@/lib/contracts/contract";
import { requestOtp } from "@/lib/contracts/swap";
import { codeOf } from "./api-error";
import type { SentCode } from "./types";

export const codeForm = z.object({ code: z.string().regex(/^\d{6}$/, "Type all six digits.") });

type CodeValues = z.infer<typeof codeForm>;

export interface CodeRequest {
  readonly form: UseFormReturn<CodeValues>;
  /** The newest code that was sent; null before the first. */
  readonly sent: SentCode | null;
  readonly sending: boolean;
  readonly sendError: unknown;
  readonly isWhole: boolean;
  readonly send: () => Promise<void>;
  readonly clear: () => void;
}

export const useCodeForm = (subject: BodyInput<typeof requestOtp>): CodeRequest => {
  const otp = useApiMutation(requestOtp);
  return useCodeFormOf({
    keptAs: Object.values(subject).join(" "),
    ask: () => otp.mutateAsync({ body: subject }),
    sending: otp.isPending,
    sendError: otp.error,
  });
};

interface AskedCode {
  readonly ask: () => Promise<SentCode>;
  readonly sending: boolean;
  readonly sendError: unknown;
  /**
   * Id of the record that the code approves. With it, a code sent before a reload can still be
   * typed afterwards.
   */
  readonly keptAs?: string;
}

export const useCodeFormOf = ({ ask, sending, sendError, keptAs }: AskedCode): CodeRequest => {
  const [sent, setSent] = useState<SentCode | null>(null);
  // The tab's storage does not exist on the server, so the code is read in an effect.
  useEffect(() => {
    if (keptAs !== undefined) setSent((now) => now ?? readKeptCode(keptAs));
  }, [keptAs]);
  const form = useForm({ resolver: zodResolver(codeForm), defaultValues: { code: "" } });
  const clear = (): void => form.reset({ code: "" });
  const send = async (): Promise<void> => {
    const answer = await ask().catch(() => null);
    if (answer === null) return;
    if (keptAs !== undefined) keepCode(keptAs, answer);
    setSent(answer);
    clear();
  };
  const isWhole = codeForm.safeParse(form.watch()).success;
  return { form, sent, sending, sendError, isWhole, send, clear };
};

interface CodeFieldProps {
  readonly codes: CodeRequest;
  readonly disabled: boolean;
}

export const CodeField = ({ codes, disabled }: CodeFieldProps): ReactNode =>
  codes.sent === null ? (
    <SendCodeButton loading={codes.sending} onSend={codes.send} />
  ) : (
    <SentCodeField codes={codes} sent={codes.sent} disabled={disabled} />
  );

interface SendCodeButtonProps {
  readonly loading: boolean;
  readonly onSend: () => Promise<void>;
}

export const SendCodeButton = ({ loading, onSend }: SendCodeButtonProps): ReactNode => (
  <div>
    <Button variant="primary" loading={loading} onClick={() => void onSend()}>
      Send code
    </Button>
  </div>
);

export const SentCodeField = ({
  codes,
  sent,
  disabled,
}: CodeFieldProps & { readonly sent: SentCode }): ReactNode => {
  const { field } = useController({ control: codes.form.control, name: "code" });
  return (
    <CodeEntry
      sent={sent}
      code={field.value}
      onChange={field.onChange}
      onResend={() => void codes.send()}
      sending={codes.sending}
      disabled={disabled}
    />
  );
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

interface CodeEntryProps {
  readonly sent: SentCode;
  readonly code: string;
  readonly onChange: (code: string) => void;
  readonly onResend: () => void;
  readonly sending: boolean;
  readonly disabled: boolean;
}

export const CodeEntry = ({
  sent,
  code,
  onChange,
  onResend,
  sending,
  disabled,
}: CodeEntryProps): ReactNode => (
  <>
    <p>
      A code was sent {sent.channel === "email" ? "by e-mail " : ""}to{" "}
      <strong>{sent.destination}</strong>.{" "}
      <Countdown
        until={sent.expiresAt}
        label="It expires in"
        expiredText="It has expired."
        className="text-fg-2"
      />
    </p>
    <DevCodeHint />
    <Field label="One-time code">
      <OtpInput value={code} onChange={onChange} disabled={disabled} autoFocus />
    </Field>
    <ResendButton key={sent.otpId} sent={sent} onResend={onResend} sending={sending} />
  </>
);

const ResendButton = ({
  sent,
  onResend,
  sending,
}: Pick<CodeEntryProps, "sent" | "onResend" | "sending">): ReactNode => {
  const [ready, setReady] = useState(false);
  return (
    <div>
      <Button size="sm" disabled={!ready} loading={sending} onClick={onResend}>
        {ready ? (
          "Send a new code"
        ) : (
          <Countdown
            until={sent.resendAfter}
            label="New code in"
            expiredText="Send a new code"
            onExpire={() => setReady(true)}
          />
        )}
      </Button>
    </div>
  );
};

const storeOf = (id: string) => tabStore(`causeway.code.${id}`, requestOtp.response);

/**
 * The record of a sent code while the code is valid, so that it can still be typed after a reload.
 * The code itself is not stored.
 */
const readKeptCode = (id: string): SentCode | null => {
  const sent = storeOf(id).read();
  return sent !== null && Date.parse(sent.expiresAt) > Date.now() ? sent : null;
};

const keepCode = (id: string, sent: SentCode): void => storeOf(id).save(sent);
