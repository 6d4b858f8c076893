import { referenceFile } from "@/lib/http/api-reference";

interface Context {
  readonly params: Promise<{ readonly file: string }>;
}

/** Serves a file of the API reference, whose name contains the hash of its content. */
export const GET = async (_request: Request, { params }: Context): Promise<Response> => {
  const { file } = await params;
  return (await referenceFile(file)) ?? new Response("There is no such file.", { status: 404 });
};
