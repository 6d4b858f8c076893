"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import type { ReactNode } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { TAGS_FIELD, tagsText } from "@/components/features/contacts/tags-field";
import { parseTags } from "@/components/features/contacts/use-contacts";
import { useApi, useCache } from "@/components/features/session/use-api";
import { FormDialog, TextField } from "@/components/ui/form";
import type { BulkAct } from "@/components/ui/selection";
import { toast } from "@/components/ui/toast";
import {
  listActivity,
  listAnnotations,
  listOperations,
  putAnnotation,
} from "@/lib/api-client/calls.gen";

const tagForm = z.object({
  tags: tagsText.refine((text) => parseTags(text).length > 0, "Enter at least one tag."),
});

interface TagDialogProps {
  readonly count: number;
  readonly act: BulkAct;
  readonly onClose: () => void;
}

const useAddTags = () => {
  const api = useApi();
  return async (id: string, added: readonly string[]): Promise<void> => {
    // Reads the tags again, because another person may have changed them since the list was
    // loaded.
    const { data } = await api.call(listAnnotations, { query: { ids: id } });
    const [before] = data;
    const tags = parseTags([...(before?.tags ?? []), ...added].join(","));
    await api.call(putAnnotation, { params: { id }, body: { memo: before?.memo ?? "", tags } });
  };
};

/** Adds tags to the selected movements. Their memos and other tags stay. */
export const TagDialog = ({ count, act, onClose }: TagDialogProps): ReactNode => {
  const form = useForm({ resolver: zodResolver(tagForm), defaultValues: { tags: "" } });
  const addTags = useAddTags();
  const { refresh } = useCache();
  const submit = async (): Promise<void> => {
    const added = parseTags(form.getValues("tags"));
    const done = await act.run((id) => addTags(id, added));
    void refresh(listActivity, listOperations, listAnnotations);
    if (done > 0) toast.success(done === 1 ? "1 is tagged." : `${String(done)} are tagged.`);
  };
  return (
    <FormDialog
      onClose={onClose}
      title={count === 1 ? "Tag 1 movement" : `Tag ${String(count)} movements`}
      description="The tags are added. Memos and other tags stay."
      form={form}
      mutation={{ error: null, isPending: act.busy }}
      onSubmit={submit}
      money="The payments are untouched."
      act="Add tags"
    >
      <TextField
        control={form.control}
        name="tags"
        {...TAGS_FIELD}
        input={{ ...TAGS_FIELD.input, autoFocus: true }}
      />
    </FormDialog>
  );
};
