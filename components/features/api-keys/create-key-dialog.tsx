"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { ApprovalStep } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { usePolicies } from "@/components/features/policies/use-policies";
import { queryKeyOf, useApi } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { createApiKey, listApiKeys } from "@/lib/contracts/api-keys";
import type { BodyInput } from "@/lib/contracts/contract";
import { KeyFields } from "./key-fields";
import { keyErrors, toKeyBody, type KeyValues } from "./key-form";
import type { NewKey } from "./secret-dialog";

interface CreateKeyDialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly onCreated: (key: NewKey) => void;
}

const EMPTY: KeyValues = {
  name: "",
  preset: "read",
  expiry: "90",
  otp: "required",
  dailyCapUsd: "",
  recipients: "",
};

export const CreateKeyDialog = ({ open, onOpenChange, onCreated }: CreateKeyDialogProps): ReactNode => (
  <Dialog open={open} onOpenChange={onOpenChange} title="New API key" size="lg">
    <CreateKeyForm onCreated={onCreated} onCancel={() => onOpenChange(false)} />
  </Dialog>
);

interface FormProps {
  readonly onCreated: (key: NewKey) => void;
  readonly onCancel: () => void;
}

const CreateKeyForm = ({ onCreated, onCancel }: FormProps): ReactNode => {
  const api = useApi();
  const queryClient = useQueryClient();
  const projectCap = usePolicies().data?.dailyCapUsd;
  const [values, setValues] = useState(EMPTY);
  const [shownAt] = useState(Date.now);
  const [tried, setTried] = useState(false);
  const create = useApprovable<BodyInput<typeof createApiKey>>(async (body, approval) => {
    const key = await api.call(createApiKey, { body: { ...body, ...(approval ? { approval } : {}) } });
    onCreated(key);
    await queryClient.invalidateQueries({ queryKey: queryKeyOf(listApiKeys) });
  });
  const errors = keyErrors(values, projectCap);
  const submit = async (): Promise<void> => {
    setTried(true);
    if (Object.keys(errors).length === 0) await create.start(toKeyBody(values, Date.now()));
  };
  if (create.asked !== null) return <ApprovalStep asked={create.asked} change={create} />;
  return (
    <form
      className="flex flex-col gap-4"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <KeyFields
        values={values}
        errors={tried ? errors : {}}
        projectCap={projectCap}
        onChange={(part) => setValues((before) => ({ ...before, ...part }))}
      />
      {create.error == null ? null : <ErrorState compact error={create.error} money="No key was made." />}
      <ApiSnippet
        method="POST"
        path="/auth/api-keys"
        auth="bearer"
        body={toKeyBody(values.name.trim() === "" ? { ...values, name: "My key" } : values, shownAt)}
      />
      <div className="sticky -bottom-4 -mx-4 -mb-4 flex justify-end gap-2 border-t bg-surface px-4 py-3">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" loading={create.busy}>
          Create key
        </Button>
      </div>
    </form>
  );
};
