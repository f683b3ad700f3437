// The official Node client against a running service; prints what it was told as JSON.
// Usage: NODE_PATH=FOLDER node client.mjs BASE_URL QUESTION
import { createRequire } from "node:module";

const require = createRequire(import.meta.url); // unlike import, it looks in NODE_PATH
const { OpenAI } = require("openai");

const [baseURL, question] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey: "none", maxRetries: 0 });
const messages = [{ role: "user", content: question }];

const models = [];
for await (const model of client.models.list()) models.push(model.id);

const reply = await client.chat.completions.create({ model: "full", messages });

let streamed = "";
const stream = await client.chat.completions.create({ model: "full", messages, stream: true });
for await (const chunk of stream) streamed += chunk.choices[0]?.delta?.content ?? "";

let error = null;
try {
  await client.chat.completions.create({ model: "gpt-4o", messages });
} catch (failure) {
  error = { status: failure.status, code: failure.code };
}

const answer = reply.choices[0].message.content;
console.log(JSON.stringify({ models, answer, streamed, cited: reply.selfright.citations[0].document_id, error }));
