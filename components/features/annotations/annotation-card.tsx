"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import Link from "next/link";
import { type ReactNode, useState } from "react";
import { useForm } from "react-hook-form";
import { useMutation, type UseMutationResult, useQuery } from "@tanstack/react-query";
import { z } from "zod";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { TAGS_FIELD, tagsText } from "@/components/features/contacts/tags-field";
import { parseTags } from "@/components/features/contacts/use-contacts";
import { useMay } from "@/components/features/projects/use-project";
import { apiQuery } from "@/components/features/session/api-query";
import { useApi, useCache } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { FormDialog, TextField } from "@/components/ui/form";
import { toast } from "@/components/ui/toast";
import {
  listActivity,
  listAnnotations,
  listOperations,
  putAnnotation,
} from "@/lib/api-client/calls.gen";
import type { BodyInput, ResponseOf } from "@/lib/contracts/contract";

const MEMO_MAX = 500;

const annotationForm = z.object({ memo: z.string().max(MEMO_MAX), tags: tagsText });

interface AnnotationCardProps {
  readonly subjectId: string;
  /** Whether the activity list contains the object, so that the list's search finds its memo. */
  readonly isListed?: boolean;
}

/**
 * The card with the memo and tags of an object. They are for bookkeeping and do not affect the
 * payment.
 */
export const AnnotationCard = ({
  subjectId,
  isListed = true,
}: AnnotationCardProps): ReactNode => {
  const annotation = useAnnotation(subjectId);
  const [editing, setEditing] = useState(false);
  const mayWrite = useMay("records:write");
  const empty =
    annotation === undefined || (annotation.memo === "" && annotation.tags.length === 0);
  return (
    <Card
      title="Memo and tags"
      actions={
        mayWrite ? (
          <Button size="sm" onClick={() => setEditing(true)}>
            {empty ? "Add a memo" : "Edit memo"}
          </Button>
        ) : undefined
      }
    >
      {empty ? (
        <p className="text-fg-3">
          {isListed
            ? "No memo yet. Memos can be searched in Activity, and are in its exports."
            : "No memo yet."}
        </p>
      ) : (
        <div className="flex flex-col gap-2">
          {annotation.memo === "" ? null : (
            <p className="whitespace-pre-line wrap-anywhere">{annotation.memo}</p>
          )}
          <TagLinks tags={annotation.tags} />
        </div>
      )}
      {editing ? (
        <AnnotationDialog
          subjectId={subjectId}
          annotation={annotation}
          onClose={() => setEditing(false)}
        />
      ) : null}
    </Card>
  );
};

const TagLinks = ({ tags: all }: { readonly tags: readonly string[] }): ReactNode =>
  all.length === 0 ? null : (
    <ul aria-label="Tags" className="flex flex-wrap gap-1">
      {all.map((tag) => (
        <li key={tag}>
          <Link
            href={`/activity?tag=${encodeURIComponent(tag)}`}
            className="inline-flex h-6 items-center rounded-tag bg-sunken px-1.5 text-sm text-fg-2 hover:text-fg"
          >
            {tag}
          </Link>
        </li>
      ))}
    </ul>
  );

interface AnnotationDialogProps {
  readonly subjectId: string;
  readonly annotation: Annotation | undefined;
  readonly onClose: () => void;
}

const AnnotationDialog = ({
  subjectId,
  annotation,
  onClose,
}: AnnotationDialogProps): ReactNode => {
  const form = useForm({
    resolver: zodResolver(annotationForm),
    defaultValues: { memo: annotation?.memo ?? "", tags: annotation?.tags.join(", ") ?? "" },
  });
  const annotate = useAnnotate(subjectId);
  const typed = form.watch();
  const body = { memo: typed.memo.trim(), tags: parseTags(typed.tags) };
  return (
    <FormDialog
      onClose={onClose}
      title="Memo and tags"
      description="Your team sees them. They change nothing about the payment."
      form={form}
      mutation={annotate}
      onSubmit={async () => {
        await annotate.mutateAsync(body);
        toast.success("Memo and tags are saved.");
      }}
      money="The payment is untouched."
      act="Save"
      snippet={<ApiSnippet call={putAnnotation} params={{ id: subjectId }} body={body} />}
    >
      <TextField
        control={form.control}
        name="memo"
        label="Memo"
        input={{ maxLength: MEMO_MAX, autoFocus: true }}
      />
      <TextField control={form.control} name="tags" {...TAGS_FIELD} />
    </FormDialog>
  );
};

type Annotation = ResponseOf<typeof listAnnotations>["data"][number];

const STALE_MS = 10_000;

/** Memo and tags of one object. Undefined while they load, and when the object has none. */
const useAnnotation = (id: string): Annotation | undefined => {
  const { data } = useQuery({
    ...apiQuery(listAnnotations, { query: { ids: id } }),
    staleTime: STALE_MS,
  });
  return data?.data.find((annotation) => annotation.id === id);
};

const useAnnotate = (
  id: string,
): UseMutationResult<Annotation, Error, BodyInput<typeof putAnnotation>> => {
  const api = useApi();
  const cache = useCache();
  return useMutation({
    mutationFn: (body) => api.call(putAnnotation, { params: { id }, body }),
    onSuccess: () => {
      void cache.refresh(listOperations, listActivity);
      return cache.refresh(listAnnotations);
    },
  });
};
