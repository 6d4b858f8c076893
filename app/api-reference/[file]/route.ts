import { referenceFile } from "@/lib/http/api-reference";

interface Context {
  readonly params: Promise<{ readonly file: string }>;
}

/** The file name contains the hash of the content. */
export const GET = async (_request: Request, { params }: Context): Promise<Response> => {
  const { file } = await params;
  return (await referenceFile(file)) ?? new Response("There is no such file.", { status: 404 });
};
