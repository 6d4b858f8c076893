"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useForm } from "react-hook-form";
import { toast } from "@/components/ui/toast";
import { z } from "zod";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApiMutation } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { Form, FormError, TextField } from "@/components/ui/form";
import { Card } from "@/components/ui/card";
import { listDeliveries, replayWebhookEvents } from "@/lib/api-client/calls.gen";

interface ReplayFormProps {
  readonly endpointId: string;
  readonly disabled: boolean;
}

const numberOf = (text: string): number => (/^[1-9]\d{0,14}$/.test(text.trim()) ? Number(text) : 0);

const eventNumber = z
  .string()
  .transform(numberOf)
  .refine((number) => number > 0, "Enter a number above zero.");

const rangeForm = z
  .object({ from: eventNumber, to: eventNumber })
  .refine(({ from, to }) => from <= to, { path: ["to"], message: "Enter the larger number here." });

/** Sends a range of events again, for a receiver that has found a gap. */
export const ReplayForm = ({ endpointId, disabled }: ReplayFormProps): ReactNode => {
  const queryClient = useQueryClient();
  const replay = useApiMutation(replayWebhookEvents);
  const form = useForm({ resolver: zodResolver(rangeForm), defaultValues: { from: "", to: "" } });
  const submit = async (body: z.infer<typeof rangeForm>): Promise<void> => {
    const answer = await replay.mutateAsync({ params: { id: endpointId }, body }).catch(() => null);
    if (answer === null) return;
    toast.success(
      answer.queued === 0
        ? "This endpoint gets none of these events."
        : `${String(answer.queued)} events are sent again.`,
    );
    await queryClient.invalidateQueries({ queryKey: queryKeyOf(listDeliveries) });
  };
  const typed = form.watch();
  return (
    <Card
      title="Replay"
      description="Sends the events of a range of numbers again, under the same ids. A receiver finds a gap by the numbers."
    >
      <Form form={form} error={replay.error} onSubmit={submit} className="flex flex-col gap-3">
        <div className="flex flex-wrap items-start gap-3">
          <TextField
            control={form.control}
            name="from"
            label="From number"
            className="w-32"
            input={{ numeric: true }}
          />
          <TextField control={form.control} name="to" label="To number" className="w-32" input={{ numeric: true }} />
          <Button type="submit" className="mt-6" disabled={disabled} loading={replay.isPending}>
            Replay
          </Button>
        </div>
        <FormError money="Nothing was sent." />
        <ApiSnippet
          method="POST"
          path={`/webhook-endpoints/${endpointId}/replay`}
          auth="bearer"
          body={{ from: numberOf(typed.from) || 1, to: numberOf(typed.to) || 100 }}
        />
      </Form>
    </Card>
  );
};
