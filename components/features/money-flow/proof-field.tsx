"use client";

import { useState, type ReactNode } from "react";
import { useController } from "react-hook-form";
import { PasskeyApproval } from "@/components/features/approvals/passkey-approval";
import { CODE_MEANS, useFactorMeans } from "@/components/features/approvals/use-factor-means";
import { useApiMutation } from "@/components/features/session/use-api";
import { Field } from "@/components/ui/field";
import { OtpInput } from "@/components/ui/otp-input";
import { RadioCards } from "@/components/ui/radio-cards";
import type { BodyInput } from "@/lib/contracts/contract";
import { requestOtp } from "@/lib/api-client/calls.gen";
import { CodeField, CodeSendError, type CodeRequest } from "./code-form";
import type { FactorProof } from "./types";

/** How a person may approve, and how they chose to. */
export interface ProofChoice {
  readonly options: ReturnType<typeof useFactorMeans>;
  readonly means: string;
  readonly choose: (means: string) => void;
}

/** The mailed code, and the second factors that the person has. */
export const useProofChoice = (onChange: () => void): ProofChoice => {
  const [means, setMeans] = useState<string>("code");
  const factors = useFactorMeans({ takesRecovery: false });
  return {
    options: factors.length === 0 ? [] : [CODE_MEANS, ...factors],
    means,
    choose: (next) => {
      setMeans(next);
      onChange();
    },
  };
};

/** The proof that the typed digits are. */
export const proofOf = (means: string, code: string): { otp: string } | { totp: string } =>
  means === "app" ? { totp: code } : { otp: code };

/** Whether the form can be sent by its own button: a passkey has another one. */
export const isReady = ({ means }: ProofChoice, codes: CodeRequest): boolean =>
  codes.isWhole && (means === "app" || (means === "code" && codes.sent !== null));

/** Offers the second factors of the person; shows nothing where there are none. */
export const MeansField = ({ choice }: { readonly choice: ProofChoice }): ReactNode =>
  choice.options.length === 0 ? null : (
    <RadioCards label="Approve by" value={choice.means} onValueChange={choice.choose} options={choice.options} />
  );

interface PasskeyFieldProps {
  readonly subject: BodyInput<typeof requestOtp>;
  readonly busy: boolean;
  readonly money: string;
  readonly onApprove: (proof: FactorProof) => Promise<unknown>;
}

/** Has a passkey approve exactly the subject. */
export const PasskeyField = ({ subject, ...props }: PasskeyFieldProps): ReactNode => {
  const asking = useApiMutation(requestOtp);
  return <PasskeyApproval {...props} ask={() => asking.mutateAsync({ body: { ...subject, channel: "passkey" } })} />;
};

interface ProofFieldProps extends PasskeyFieldProps {
  readonly codes: CodeRequest;
  readonly choice: ProofChoice;
}

/** Takes the mailed code, the code of the authenticator app, or a passkey. */
export const ProofField = ({ codes, choice, ...props }: ProofFieldProps): ReactNode => (
  <>
    <MeansField choice={choice} />
    {choice.means === "passkey" ? (
      <PasskeyField {...props} />
    ) : choice.means === "app" ? (
      <AppCodeField codes={codes} disabled={props.busy} />
    ) : (
      <>
        <CodeField codes={codes} disabled={props.busy} />
        <CodeSendError error={codes.sendError} money={props.money} />
      </>
    )}
  </>
);

interface AppCodeFieldProps {
  readonly codes: CodeRequest;
  /** While the code is checked. */
  readonly disabled: boolean;
}

/** Takes the code that the authenticator app shows. */
export const AppCodeField = ({ codes, disabled }: AppCodeFieldProps): ReactNode => {
  const { field } = useController({ control: codes.form.control, name: "code" });
  return (
    <Field label="Code of the authenticator app">
      <OtpInput value={field.value} onChange={field.onChange} disabled={disabled} autoFocus />
    </Field>
  );
};
