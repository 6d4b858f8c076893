"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import Link from "next/link";
import { useEffect, useState, type ReactNode } from "react";
import { useController, useForm, type UseFormReturn } from "react-hook-form";
import { z } from "zod";
import { useApiMutation } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { ErrorState } from "@/components/ui/error-state";
import type { BodyInput } from "@/lib/contracts/contract";
import { requestOtp } from "@/lib/api-client/calls.gen";
import { codeOf } from "./api-error";
import { CodeEntry } from "./code-entry";
import { keepCode, readKeptCode } from "./kept-code";
import type { SentCode } from "./types";

/** A one-time code of six digits. */
export const codeForm = z.object({ code: z.string().regex(/^\d{6}$/, "Type all six digits.") });

type CodeValues = z.infer<typeof codeForm>;

export interface CodeRequest {
  readonly form: UseFormReturn<CodeValues>;
  /** The code that was sent last; null before the first. */
  readonly sent: SentCode | null;
  readonly sending: boolean;
  readonly sendError: unknown;
  /** Whether all digits are typed. */
  readonly isWhole: boolean;
  /** Has a code sent that approves exactly the subject. */
  readonly send: () => Promise<void>;
  /** Empties the field, after the code was refused. */
  readonly clear: () => void;
}

/** The form of a one-time code that approves `subject`. */
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
  /** Has a code mailed. */
  readonly ask: () => Promise<SentCode>;
  readonly sending: boolean;
  readonly sendError: unknown;
  /** Names the subject that the code approves: a code that was sent before a reload is still asked for. */
  readonly keptAs?: string;
}

/** The form of a one-time code that `ask` has mailed. */
export const useCodeFormOf = ({ ask, sending, sendError, keptAs }: AskedCode): CodeRequest => {
  const [sent, setSent] = useState<SentCode | null>(null);
  // After the first drawing, which the server may have made without it.
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
  /** While the code is checked. */
  readonly disabled: boolean;
}

/** The button that has a code sent, then the field that takes it. */
export const CodeField = ({ codes, disabled }: CodeFieldProps): ReactNode =>
  codes.sent === null ? (
    <div>
      <Button variant="primary" loading={codes.sending} onClick={() => void codes.send()}>
        Send code
      </Button>
    </div>
  ) : (
    <SentCodeField codes={codes} sent={codes.sent} disabled={disabled} />
  );

/** Takes the code that was sent. */
export const SentCodeField = ({ codes, sent, disabled }: CodeFieldProps & { readonly sent: SentCode }): ReactNode => {
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
  /** Where the money is. */
  readonly money: string;
  /** Shown when the person has no verified address; by default a link to the settings. */
  readonly missing?: ReactNode;
}

/** Why no code was sent. */
export const CodeSendError = ({ error, money, missing = SETTINGS_LINK }: CodeSendErrorProps): ReactNode =>
  error == null ? null : (
    <ErrorState
      compact
      error={error}
      money={money}
      {...(codeOf(error) === "otp_channel_missing" ? { action: missing } : {})}
    />
  );
