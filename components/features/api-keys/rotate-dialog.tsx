"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { ApprovalStep } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { ControlField, Form, FormError } from "@/components/ui/form";
import { Select } from "@/components/ui/select";
import { listApiKeys, rotateApiKey } from "@/lib/api-client/calls.gen";
import type { BodyInput } from "@/lib/contracts/contract";
import type { ApiKey } from "./api-key";
import type { NewKey } from "./secret-dialog";

interface RotateDialogProps {
  readonly apiKey: ApiKey | null;
  readonly onRotated: (key: NewKey) => void;
  readonly onClose: () => void;
}

/** Makes a new secret for a key, so that a program can change over without an interruption. */
export const RotateDialog = ({ apiKey, onRotated, onClose }: RotateDialogProps): ReactNode =>
  apiKey === null ? null : (
    <Dialog
      open
      onOpenChange={onClose}
      title={`New secret for “${apiKey.name}”`}
      description={`The key keeps its id, its rights and its limits. The secret that ends in ${apiKey.last4} still works for a while.`}
    >
      <RotateForm apiKey={apiKey} onRotated={onRotated} onClose={onClose} />
    </Dialog>
  );

const OVERLAPS = [
  { value: "0", label: "At once: the secret has leaked" },
  { value: "3600", label: "In an hour" },
  { value: "86400", label: "In a day" },
  { value: "604800", label: "In seven days" },
] as const;

const form = z.object({ overlap: z.string() });

const RotateForm = ({ apiKey, onRotated, onClose }: RotateDialogProps & { readonly apiKey: ApiKey }): ReactNode => {
  const api = useApi();
  const queryClient = useQueryClient();
  const state = useForm<z.output<typeof form>>({ resolver: zodResolver(form), defaultValues: { overlap: "86400" } });
  const rotate = useApprovable<BodyInput<typeof rotateApiKey>>(
    `api_key.rotate ${apiKey.id}`,
    async (body, approval) => {
      const made = await api.call(rotateApiKey, {
        params: { id: apiKey.id },
        body: { ...body, ...(approval ? { approval } : {}) },
      });
      onRotated(made);
      await queryClient.invalidateQueries({ queryKey: queryKeyOf(listApiKeys) });
    },
  );
  const body = { overlapSeconds: Number(state.watch("overlap")) };
  if (rotate.asked !== null) return <ApprovalStep asked={rotate.asked} change={rotate} />;
  return (
    <Form
      form={state}
      error={rotate.error}
      onSubmit={({ overlap }) => rotate.start({ overlapSeconds: Number(overlap) })}
      className="flex flex-col gap-4"
    >
      <ControlField control={state.control} name="overlap" label="The present secret ends">
        {(bound) => <Select {...bound} options={OVERLAPS} />}
      </ControlField>
      <FormError money="The key is as it was." />
      <ApiSnippet method="POST" path={`/auth/api-keys/${apiKey.id}/rotate`} auth="bearer" body={body} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" loading={rotate.busy}>
          Make new secret
        </Button>
      </div>
    </Form>
  );
};
