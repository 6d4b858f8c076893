"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Controller, useForm } from "react-hook-form";
import { z } from "zod";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApiMutation } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Checkbox } from "@/components/ui/field";
import { Form, FormError, TextField } from "@/components/ui/form";
import { createWebhookEndpoint, listWebhookEndpoints } from "@/lib/api-client/calls.gen";
import type { NewEndpoint } from "./endpoint";
import { EventPicker } from "./event-picker";

interface CreateEndpointDialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly onCreated: (endpoint: NewEndpoint) => void;
}

export const CreateEndpointDialog = ({ open, onOpenChange, onCreated }: CreateEndpointDialogProps): ReactNode => (
  <Dialog open={open} onOpenChange={onOpenChange} title="New endpoint" size="lg">
    <CreateEndpointForm onCreated={onCreated} onCancel={() => onOpenChange(false)} />
  </Dialog>
);

interface FormProps {
  readonly onCreated: (endpoint: NewEndpoint) => void;
  readonly onCancel: () => void;
}

const EXAMPLE_URL = "https://example.org/webhooks";
const URL_MAX = 2000;

/** Which URLs may be called is the service's to say. */
const endpointForm = z.object({
  url: z.string().trim().min(1, "Enter the URL of your receiver.").max(URL_MAX),
  events: z.array(z.string()).min(1, "Choose at least one event."),
  thin: z.boolean(),
  includePrivate: z.boolean(),
});
type EndpointValues = z.infer<typeof endpointForm>;

const toBody = ({ url, events, thin, includePrivate }: EndpointValues) => ({
  url: url.trim(),
  events,
  payload: thin ? ("thin" as const) : ("full" as const),
  includePrivate,
});

const CreateEndpointForm = ({ onCreated, onCancel }: FormProps): ReactNode => {
  const queryClient = useQueryClient();
  const create = useApiMutation(createWebhookEndpoint);
  const form = useForm({
    resolver: zodResolver(endpointForm),
    defaultValues: { url: "", events: ["*"], thin: false, includePrivate: false },
  });
  const submit = async (values: EndpointValues): Promise<void> => {
    const made = await create.mutateAsync({ body: toBody(values) }).catch(() => null);
    if (made === null) return;
    onCreated(made);
    await queryClient.invalidateQueries({ queryKey: queryKeyOf(listWebhookEndpoints) });
  };
  const body = toBody(form.watch());
  return (
    <Form form={form} error={create.error} onSubmit={submit} className="flex flex-col gap-4">
      <TextField
        control={form.control}
        name="url"
        label="URL"
        hint="It must be reachable from the internet, and answer with a 2xx status within 15 seconds."
        input={{ type: "url", placeholder: EXAMPLE_URL, maxLength: URL_MAX, autoFocus: true }}
      />
      <Controller
        control={form.control}
        name="events"
        render={({ field, fieldState }) => (
          <EventPicker value={field.value} onChange={field.onChange} error={fieldState.error?.message} />
        )}
      />
      <Checkbox label="Thin payload: names the object, without its details" {...form.register("thin")} />
      <Checkbox
        label="Details of private movements: without this, their events show id, type and number alone"
        {...form.register("includePrivate")}
      />
      <FormError money="No endpoint was made." />
      <ApiSnippet
        method="POST"
        path="/webhook-endpoints"
        auth="bearer"
        body={{ ...body, url: body.url === "" ? EXAMPLE_URL : body.url }}
      />
      <div className="sticky -bottom-4 -mx-4 -mb-4 flex justify-end gap-2 border-t bg-surface px-4 py-3">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" loading={create.isPending}>
          Create endpoint
        </Button>
      </div>
    </Form>
  );
};
