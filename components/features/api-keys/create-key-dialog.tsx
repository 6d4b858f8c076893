"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useQueryClient } from "@tanstack/react-query";
import { useMemo, useState, type ReactNode } from "react";
import { useForm } from "react-hook-form";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { ApprovalStep } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { usePolicies } from "@/components/features/policies/use-policies";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Form, FormError } from "@/components/ui/form";
import { createApiKey, listApiKeys } from "@/lib/api-client/calls.gen";
import type { BodyInput } from "@/lib/contracts/contract";
import { KeyFields } from "./key-fields";
import { keyForm, toKeyBody, type KeyValues } from "./key-form";
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
  networks: "",
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
  const resolver = useMemo(() => zodResolver(keyForm(() => projectCap)), [projectCap]);
  const form = useForm<KeyValues>({ resolver, defaultValues: EMPTY });
  const [shownAt] = useState(Date.now);
  const create = useApprovable<BodyInput<typeof createApiKey>>("api_key.create", async (body, approval) => {
    const key = await api.call(createApiKey, { body: { ...body, ...(approval ? { approval } : {}) } });
    onCreated(key);
    await queryClient.invalidateQueries({ queryKey: queryKeyOf(listApiKeys) });
  });
  const values = form.watch();
  if (create.asked !== null) return <ApprovalStep asked={create.asked} change={create} />;
  return (
    <Form
      form={form}
      error={create.error}
      onSubmit={(typed) => create.start(toKeyBody(typed, Date.now()))}
      className="flex flex-col gap-4"
    >
      <KeyFields control={form.control} values={values} projectCap={projectCap} />
      <FormError money="No key was made." />
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
    </Form>
  );
};
