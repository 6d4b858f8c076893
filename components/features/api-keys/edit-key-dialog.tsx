"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useQueryClient } from "@tanstack/react-query";
import { useMemo, useState, type ReactNode } from "react";
import { useForm } from "react-hook-form";
import { toast } from "@/components/ui/toast";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { ApprovalStep } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { usePolicies } from "@/components/features/policies/use-policies";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Form, FormError } from "@/components/ui/form";
import { listApiKeys, updateApiKey } from "@/lib/api-client/calls.gen";
import type { BodyInput } from "@/lib/contracts/contract";
import { readOrTyped } from "@/lib/core/read-amount";
import type { ApiKey } from "./api-key";
import { KeyFields } from "./key-fields";
import { keyForm, toKeyChange, valuesOfKey, type KeyValues } from "./key-form";
import { presetOf } from "./presets";

interface EditKeyDialogProps {
  readonly apiKey: ApiKey | null;
  readonly onClose: () => void;
}

/** Changes a key; a change that lets it do more than before is approved in the same dialog. */
export const EditKeyDialog = ({ apiKey, onClose }: EditKeyDialogProps): ReactNode =>
  apiKey === null ? null : (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Edit “${apiKey.name}”`}
      description="It counts within a second. Letting the key do less counts at once; letting it do more needs your approval."
      size="lg"
    >
      <EditKeyForm apiKey={apiKey} onClose={onClose} />
    </Dialog>
  );

const keptOf = ({ scopes, expiresAt }: ApiKey) => ({
  expiry: expiresAt === null ? "As it is: never" : `As it is: ${expiresAt.slice(0, 10)}`,
  scopes: scopes.join(", "),
});

const EditKeyForm = ({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }): ReactNode => {
  const api = useApi();
  const queryClient = useQueryClient();
  const projectCap = usePolicies().data?.dailyCapUsd;
  const [shownAt] = useState(Date.now);
  const resolver = useMemo(() => {
    // The limit that the key has may be above the project's; only another one has to be within it.
    const capOf = (typed: KeyValues) =>
      readOrTyped(typed.dailyCapUsd) === apiKey.dailyCapUsd ? undefined : projectCap;
    return zodResolver(keyForm(capOf));
  }, [apiKey, projectCap]);
  const form = useForm<KeyValues>({ resolver, defaultValues: valuesOfKey(apiKey) });
  const values = form.watch();
  const change = useApprovable<BodyInput<typeof updateApiKey>>(`api_key.edit ${apiKey.id}`, async (body, approval) => {
    const options = { params: { id: apiKey.id }, body: { ...body, ...(approval ? { approval } : {}) } };
    await api.call(updateApiKey, options);
    toast.success(`The key “${values.name.trim()}” was changed.`);
    onClose();
    await queryClient.invalidateQueries({ queryKey: queryKeyOf(listApiKeys) });
  });
  const body = toKeyChange(apiKey, values, shownAt);
  const submit = async (typed: KeyValues): Promise<void> => {
    const changed = toKeyChange(apiKey, typed, Date.now());
    if (changed !== null) await change.start(changed);
  };
  if (change.asked !== null) return <ApprovalStep asked={change.asked} change={change} />;
  const { scopes, expiry } = keptOf(apiKey);
  const isPreset = presetOf(apiKey.scopes) !== undefined;
  return (
    <Form form={form} error={change.error} onSubmit={submit} className="flex flex-col gap-4">
      <KeyFields
        control={form.control}
        values={values}
        projectCap={projectCap}
        kept={{ expiry, ...(isPreset ? {} : { scopes }) }}
      />
      <FormError money="The key is as it was." />
      {body === null ? null : (
        <ApiSnippet method="PATCH" path={`/auth/api-keys/${apiKey.id}`} auth="bearer" body={body} />
      )}
      <div className="sticky -bottom-4 -mx-4 -mb-4 flex justify-end gap-2 border-t bg-surface px-4 py-3">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" disabled={body === null} loading={change.busy}>
          Save
        </Button>
      </div>
    </Form>
  );
};
