"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import Link from "next/link";
import { useState, type ReactNode } from "react";
import { useForm } from "react-hook-form";
import { toast } from "@/components/ui/toast";
import { z } from "zod";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { parseTags } from "@/components/features/contacts/contact-filter";
import { useMay } from "@/components/features/projects/use-project";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Dialog } from "@/components/ui/dialog";
import { Form, FormError, TextField } from "@/components/ui/form";
import { putAnnotation } from "@/lib/api-client/calls.gen";
import { tags } from "@/lib/contracts/tags";
import { useAnnotate, useAnnotations, type Annotation } from "./use-annotations";

const MEMO_MAX = 500;
const TAGS_TEXT_MAX = 400;

const annotationForm = z.object({
  memo: z.string().max(MEMO_MAX),
  tags: z.string().refine((text) => tags.safeParse(parseTags(text)).success, "At most 10 tags of 32 characters each."),
});

interface AnnotationCardProps {
  readonly subjectId: string;
  /** Whether Activity lists the object, so that its memo is searchable there. */
  readonly isListed?: boolean;
}

/** Memo and tags of an operation or a payout: for people and for the books, no part of the payment. */
export const AnnotationCard = ({ subjectId, isListed = true }: AnnotationCardProps): ReactNode => {
  const annotation = useAnnotations([subjectId]).get(subjectId);
  const [editing, setEditing] = useState(false);
  const mayWrite = useMay("records:write");
  const empty = annotation === undefined || (annotation.memo === "" && annotation.tags.length === 0);
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
          {isListed ? "No memo yet. Memos can be searched in Activity, and are in its exports." : "No memo yet."}
        </p>
      ) : (
        <div className="flex flex-col gap-2">
          {annotation.memo === "" ? null : <p className="whitespace-pre-line wrap-anywhere">{annotation.memo}</p>}
          <TagLinks tags={annotation.tags} />
        </div>
      )}
      {editing ? (
        <Dialog
          open
          onOpenChange={() => setEditing(false)}
          title="Memo and tags"
          description="Your team sees them. They change nothing about the payment."
        >
          <AnnotationForm subjectId={subjectId} annotation={annotation} onClose={() => setEditing(false)} />
        </Dialog>
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

interface AnnotationFormProps {
  readonly subjectId: string;
  readonly annotation: Annotation | undefined;
  readonly onClose: () => void;
}

const AnnotationForm = ({ subjectId, annotation, onClose }: AnnotationFormProps): ReactNode => {
  const form = useForm({
    resolver: zodResolver(annotationForm),
    defaultValues: { memo: annotation?.memo ?? "", tags: annotation?.tags.join(", ") ?? "" },
  });
  const annotate = useAnnotate(subjectId);
  const typed = form.watch();
  const body = { memo: typed.memo.trim(), tags: parseTags(typed.tags) };
  const submit = async (): Promise<void> => {
    const saved = await annotate.mutateAsync(body).catch(() => null);
    if (saved === null) return;
    toast.success("Memo and tags are saved.");
    onClose();
  };
  return (
    <Form form={form} error={annotate.error} onSubmit={submit} className="flex flex-col gap-4">
      <TextField control={form.control} name="memo" label="Memo" input={{ maxLength: MEMO_MAX, autoFocus: true }} />
      <TextField
        control={form.control}
        name="tags"
        label="Tags"
        hint="Separated by commas, for instance: Payroll, Berlin."
        input={{ maxLength: TAGS_TEXT_MAX }}
      />
      <FormError money="The payment is untouched." />
      <ApiSnippet method="PUT" path={putAnnotation.path.replace("{id}", subjectId)} body={body} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" loading={annotate.isPending}>
          Save
        </Button>
      </div>
    </Form>
  );
};
